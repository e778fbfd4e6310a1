import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from './database.mjs';
import { seedAccounts } from './seed.mjs';

/** What all scenarios of a run share: its settings, its folder, and one PostgreSQL with the seeded accounts. */
export class Bench {
  secret = randomBytes(32).toString('hex');
  /** Answers that were wrong or did not come, of whomever and whenever. */
  failed = 0;
  cleanups = [];

  constructor(options) {
    this.options = options;
  }

  async start() {
    this.folder = this.temporaryFolder('accounts-bench-');
    this.postgres = await startPostgres(this.temporaryFolder('accounts-bench-data-'));
    this.cleanups.push(() => this.postgres.stop());
    this.say(`Seeding ${this.options.users} users and sessions …`);
    await this.createAccounts('bench', this.options.users);
  }

  async createAccounts(database, users) {
    await this.postgres.createMigrated(database);
    await this.postgres.connected(database, (client) => seedAccounts(client, users));
  }

  temporaryFolder(prefix) {
    const folder = mkdtempSync(join(tmpdir(), prefix));
    this.cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  }

  /** Runs `work` with servers that are stopped afterwards, whatever happens. */
  async withServers(starts, work) {
    const servers = [];
    const stop = () => Promise.all(servers.splice(0).map((server) => server.stop()));
    this.cleanups.push(stop);
    try {
      for (const start of starts) servers.push(await start());
      return await work(...servers);
    } finally {
      await stop();
    }
  }

  say(line) {
    process.stdout.write(`${line}\n`);
  }

  /** Asked again while it works, it answers the same. */
  stop() {
    return (this.stopped ??= this.undo());
  }

  async undo() {
    for (const cleanup of this.cleanups.reverse()) {
      try {
        await cleanup();
      } catch (error) {
        this.say(error.message);
      }
    }
  }
}
