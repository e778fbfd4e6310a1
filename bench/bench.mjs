import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Postgres } from './postgres.mjs';
import { seedAccounts } from './seed.mjs';

/** State shared by all scenarios of a run: its settings, its folder, and one PostgreSQL with the seeded accounts. */
export class Bench {
  secret = randomBytes(32).toString('hex');
  folder = mkdtempSync(join(tmpdir(), 'accounts-bench-'));
  postgres = new Postgres(mkdtempSync(join(tmpdir(), 'accounts-bench-data-')));
  servers = [];
  /** Wrong or missing answers, of every contestant at any time. */
  failed = 0;

  constructor(options) {
    this.options = options;
  }

  async start() {
    await this.postgres.start();
    this.say(`Seeding ${this.options.users} users and sessions …`);
    await seedAccounts(this.postgres, 'bench', this.options.users);
  }

  async play(name) {
    const { title, run } = await import(`./scenarios/${name}.mjs`);
    this.say(`\n${title} (${name})`);
    const before = this.failed;
    try {
      return { title, ...(await run(this)), failed: this.failed - before };
    } finally {
      await this.stopServers();
    }
  }

  say(line) {
    process.stdout.write(`${line}\n`);
  }

  stopServers() {
    return Promise.all(this.servers.map((server) => server.stop()));
  }

  async stop() {
    try {
      await this.stopServers();
      await this.postgres.stop();
    } finally {
      for (const folder of [this.folder, this.postgres.dataDir]) rmSync(folder, { recursive: true, force: true });
    }
  }
}
