import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { startRun } from '../support/global-setup';

export default function setUp(): Promise<void> {
  return startRun(noteOwners);
}

async function noteOwners(url: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  await client.query(readFileSync(join(__dirname, 'owners.sql'), 'utf8'));
  await client.end();
}
