import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Postgres } from './postgres.mjs';

const require = createRequire(import.meta.url);
// The tests' helper is TypeScript.
require('../scripts/launch/typescript.cjs');
const { copyAsStandby } = require('../test/support/standby-files');

/** A hot standby of the benchmark's PostgreSQL, by streaming replication. */
export class Standby extends Postgres {
  static async of({ postgres }) {
    const parent = mkdtempSync(join(tmpdir(), 'accounts-bench-standby-'));
    const standby = new Standby(join(parent, 'data'));
    standby.parent = parent;
    await copyAsStandby(postgres.url(), postgres.dataDir, standby.dataDir);
    spawnSync('chmod', ['755', parent]);
    await standby.start();
    return standby;
  }

  async stop() {
    await super.stop();
    rmSync(this.parent, { recursive: true, force: true });
  }
}
