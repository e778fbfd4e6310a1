import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';

/** Copies the data folder of a running server as that of a hot standby, which follows the server once it is started. */
export async function copyAsStandby(url: string, from: string, to: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  await client.query(`SELECT pg_backup_start('standby', true)`);
  copyFolder(from, to);
  const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
  await client.end();
  const files = join(to, 'postgres');
  rmSync(join(files, 'postmaster.pid'));
  const { hostname: host, port, username: user, password } = new URL(url);
  const written = {
    backup_label: rows[0]?.labelfile ?? '',
    'standby.signal': '',
    'postgresql.auto.conf': `primary_conninfo = 'host=${host} port=${port} user=${user} password=${password}'\n`,
  };
  for (const [name, content] of Object.entries(written)) {
    writeFileSync(join(files, name), content);
    spawnSync('chown', ['--reference', join(files, 'PG_VERSION'), join(files, name)]);
  }
}

export function copyFolder(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', from, to]);
  // Temporary files may disappear during the copy.
  if (status !== 0 && !/No such file/.test(stderr.toString())) throw new Error(stderr.toString());
}
