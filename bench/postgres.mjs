import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { URL } from 'node:url';
import pg from 'pg';
import { root } from '../scripts/launch/dependencies.mjs';

const compiled = createRequire(`${root}/dist/src/server.js`);

/** All contestants are connected at the same time. All else is PostgreSQL's default, with every commit on the disk. */
export const SETTINGS = { max_connections: '200' };

/** The service's embedded PostgreSQL in a folder, which may be empty. Every contestant has a database in it. */
export class Postgres {
  constructor(dataDir) {
    this.dataDir = dataDir;
  }

  async start(settings = {}) {
    const { startEmbeddedPostgres } = compiled('../packages/embedded-database/src');
    const { SERVICE_ROLE: role } = compiled('./database/service-role');
    this.server = await startEmbeddedPostgres({
      dataDir: this.dataDir,
      role,
      settings: { ...SETTINGS, ...settings },
    });
    this.pid = parseInt(readFileSync(`${this.dataDir}/postgres/postmaster.pid`, 'utf8'), 10);
  }

  /**
   * Restarts it with these settings on top of the usual ones, at another address; does nothing when the run is over.
   */
  async restart(settings) {
    if (this.isOver) return;
    await this.server.stop();
    await this.start(settings);
  }

  async stop() {
    this.isOver = true;
    await this.server?.stop();
  }

  /** Returns the address of a database; without a name, that of the one for administration. */
  url(name) {
    const url = new URL(this.server.url);
    if (name !== undefined) url.pathname = `/${name}`;
    return url.href;
  }

  /** Like `url`, for the role of the service. */
  serviceUrl(name) {
    const url = new URL(this.server.serviceUrl);
    url.pathname = `/${name}`;
    return url.href;
  }

  create(name) {
    return this.run(undefined, [`CREATE DATABASE ${name}`]);
  }

  async createMigrated(name) {
    await this.create(name);
    await compiled('./database/migrations').migrate(this.url(name));
  }

  fill(name, statements) {
    return this.run(name, [...statements, 'VACUUM ANALYZE']);
  }

  async size(name) {
    return (await this.run(name, ['SELECT pg_size_pretty(pg_database_size(current_database())) AS size'])).size;
  }

  /** Returns the first row of the last statement. */
  async run(name, statements) {
    const client = new pg.Client(this.url(name));
    await client.connect();
    try {
      let result;
      for (const statement of statements) result = await client.query(statement);
      return result.rows[0];
    } finally {
      await client.end();
    }
  }
}
