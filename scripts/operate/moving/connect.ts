import { Client, escapeIdentifier } from 'pg';
import { migrationOptions } from '../../../src/database/migrations';

/** Connects without limits of time: a large table takes hours. */
export async function connect(url: string): Promise<Client> {
  const client = new Client({ ...migrationOptions(url), lock_timeout: 0 });
  // Without a listener, a broken connection would end the process. Its next query fails.
  client.on('error', () => undefined);
  await client.connect();
  // Others may only read, before or after the move. A Citus would repeat changes of a database on workers.
  await client.query('SET default_transaction_read_only = off; SET citus.enable_ddl_propagation = off');
  return client;
}

/**
 * Lets the service use this database, or not: only superusers connect to a database with a limit of 0. A horizon of a Citus
 * would go on with the clock, above the versions of the other database.
 */
export async function allowUse(db: Client, isAllowed: boolean): Promise<void> {
  const { rows } = await db.query<{ name: string }>('SELECT current_database() AS name');
  const database = escapeIdentifier(rows[0]?.name ?? '');
  await db.query(`ALTER DATABASE ${database} CONNECTION LIMIT ${isAllowed ? -1 : 0}`);
  await db.query(
    `ALTER DATABASE ${database} ${isAllowed ? 'RESET' : 'SET'} default_transaction_read_only${isAllowed ? '' : ' = on'}`,
  );
}
