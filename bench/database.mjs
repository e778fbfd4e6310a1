import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { URL } from 'node:url';
import pg from 'pg';
import { root } from '../scripts/dependencies.mjs';

const require = createRequire(import.meta.url);

/** All contestants are connected at the same time. Otherwise PostgreSQL runs as it comes, with every commit on the disk. */
export const SETTINGS = { max_connections: '200' };

/** The service's own embedded PostgreSQL in a folder, which may be empty; every contestant has a database in it. */
export async function startPostgres(dataDir) {
  const postgres = new Postgres(dataDir);
  await postgres.start();
  return postgres;
}

class Postgres {
  isOver = false;

  constructor(dataDir) {
    this.dataDir = dataDir;
  }

  async start(settings = {}) {
    const { startEmbeddedPostgres } = require(join(root, 'dist/src/integrations/embedded-postgres'));
    this.server = await startEmbeddedPostgres({ dataDir: this.dataDir, settings: { ...SETTINGS, ...settings } });
    this.pid = Number(readFileSync(join(this.dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  }

  /** With these settings on top of the usual ones, at another address. */
  async restart(settings) {
    if (this.isOver) return;
    await this.server.stop();
    await this.start(settings);
  }

  /** The address of a database; without a name, of the one for administration. */
  url(name) {
    const url = new URL(this.server.url);
    if (name !== undefined) url.pathname = `/${name}`;
    return url.href;
  }

  /** Makes an empty database, or a copy of another one. */
  async create(name, template) {
    await this.connected(undefined, (client) =>
      client.query(`CREATE DATABASE ${name} ${template === undefined ? '' : `TEMPLATE ${template}`}`),
    );
  }

  /** Makes a database as the service makes it. */
  async createMigrated(name) {
    await this.create(name);
    const { migrate } = require(join(root, 'dist/src/database/migrations'));
    await migrate(this.url(name));
  }

  async connected(name, work) {
    const client = new pg.Client(this.url(name));
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  async version() {
    const { rows } = await this.connected(undefined, (client) => client.query('SHOW server_version'));
    return rows[0].server_version;
  }

  async stop() {
    this.isOver = true;
    await this.server.stop();
  }
}
