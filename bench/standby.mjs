import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { URL } from 'node:url';
import pg from 'pg';
import { Postgres } from './postgres.mjs';

/** A hot standby of the benchmark's PostgreSQL, by streaming replication. */
export class Standby extends Postgres {
  static async of({ postgres }) {
    const parent = mkdtempSync(join(tmpdir(), 'accounts-bench-standby-'));
    const standby = new Standby(join(parent, 'data'));
    standby.parent = parent;
    const client = new pg.Client(postgres.url());
    await client.connect();
    await client.query(`SELECT pg_backup_start('standby', true)`);
    // Temporary files may disappear during the copy, which is then not whole by its exit code, but is for PostgreSQL.
    spawnSync('cp', ['-a', postgres.dataDir, standby.dataDir]);
    const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)');
    await client.end();
    standby.#follow(new URL(postgres.url()), rows[0].labelfile);
    spawnSync('chmod', ['755', parent]);
    await standby.start();
    return standby;
  }

  async stop() {
    await super.stop();
    rmSync(this.parent, { recursive: true, force: true });
  }

  #follow({ hostname, port, username, password }, label) {
    const files = `${this.dataDir}/postgres`;
    rmSync(`${files}/postmaster.pid`);
    const way = `host=${hostname} port=${port} user=${username} password=${password}`;
    const written = {
      backup_label: label,
      'standby.signal': '',
      'postgresql.auto.conf': `primary_conninfo = '${way}'\n`,
    };
    for (const [name, content] of Object.entries(written)) {
      writeFileSync(`${files}/${name}`, content);
      spawnSync('chown', ['--reference', `${files}/PG_VERSION`, `${files}/${name}`]);
    }
  }
}
