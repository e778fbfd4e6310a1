import { mkdirSync } from 'node:fs';
import { Client } from 'pg';
import { migrate } from '../../src/database/migrations';
import { SERVICE_ROLE } from '../../src/database/service-role';
import { administer, TEMPLATE } from '../support/database';
import { OUTPUT } from '../support/paths';

/** Makes the template of the test databases on all servers of the Citus at CITUS_URL. */
export default async function setUp(): Promise<void> {
  const url = new URL(process.env.CITUS_URL ?? '');
  mkdirSync(OUTPUT, { recursive: true });
  const workers = await rowsOf<{ host: string; port: number }>(
    url.href,
    'SELECT nodename AS host, nodeport AS port FROM pg_dist_node WHERE groupid <> 0',
  );
  const addresses = [url.host, ...workers.map(({ host, port }) => `${host}:${port}`)];
  const at = (host: string, name: string) => Object.assign(new URL(url), { host, pathname: `/${name}` }).href;
  const [first = '', ...others] = addresses.map((address) => at(address, 'postgres'));
  process.env.TEST_POSTGRES_URL = first;
  process.env.TEST_OTHER_SERVERS = JSON.stringify(others);
  const service = Object.assign(new URL(first), { username: SERVICE_ROLE, password: 'service' });
  process.env.TEST_POSTGRES_SERVICE_URL = service.href;

  await administer(first, `DROP DATABASE IF EXISTS ${TEMPLATE} WITH (FORCE)`);
  await administer(first, `CREATE DATABASE ${TEMPLATE}`);
  await administer(first, roleOf(SERVICE_ROLE, 'service'));
  // Twenty requests, which take longer here, have to wait for a lock at the same time.
  await administer(first, `ALTER ROLE ${SERVICE_ROLE} SET lock_timeout = '2s'`);
  // For triggers of tests, which make statements fail.
  await administer(first, 'ALTER ROLE CURRENT_USER SET citus.enable_unsafe_triggers = on');
  for (const address of addresses) await rowsOf(at(address, TEMPLATE), 'CREATE EXTENSION citus');
  const template = at(url.host, TEMPLATE);
  await rowsOf(template, `SELECT citus_set_coordinator_host('${url.hostname}', ${url.port})`);
  for (const { host, port } of workers) await rowsOf(template, `SELECT citus_add_node('${host}', ${port})`);
  await migrate(template);
  await rowsOf(template, GROUPS_OF_ANY_WRITER);
  // Citus connects to each database of its own accord, and a template must have no connections.
  await administer(first, `ALTER DATABASE ${TEMPLATE} ALLOW_CONNECTIONS false`);
  await administer(first, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${TEMPLATE}'`);
}

/** Tests write memberships in plain SQL, without the function that notes them by user. */
const GROUPS_OF_ANY_WRITER = `
  CREATE OR REPLACE FUNCTION groups_of(member text) RETURNS SETOF text LANGUAGE plpgsql STABLE AS $$
    BEGIN RETURN QUERY SELECT group_id FROM group_members WHERE member_id = member; END $$`;

const roleOf = (name: string, password: string) => `DO $$ BEGIN
  IF to_regrole('${name}') IS NULL THEN CREATE ROLE ${name}; END IF;
  ALTER ROLE ${name} LOGIN PASSWORD '${password}';
END $$`;

async function rowsOf<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new Client(url);
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}
