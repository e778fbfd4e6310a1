import { Client } from 'pg';
import { distributedForms } from '../../support/all-statements';
import { describeOnSeveralServers } from '../../support/on-one-server';
import { stage } from '../../support/stage';

/**
 * Statements that ask several parts of a Citus, or that it does not explain, by their reason. All others ask one part for
 * each user or group that they name. Statements inside of functions are not seen here.
 */
const SEVERAL_PARTS: Record<string, string[]> = {
  'An account closes once, and another service may have written only the side of the other user.': [
    'page-of-other-sides',
  ],
  'Sweeps, which run now and then for all users.': ['overdue-requests', 'end-overdue-requests', 'due-images'],
  'A copy of all users and groups to a messaging provider, which an operator starts.': [
    'next-users-to-copy',
    'next-groups-to-copy',
  ],
  'An operator looks up accounts.': ['support-ids-found', 'support-user', 'support-copied', 'support-groups-of-user'],
  'Runs on the server of its user, but EXPLAIN cannot show that.': ['keep-messaging-token'],
};

describeOnSeveralServers('a statement on several servers', () => {
  let client: Client;
  afterAll(() => client.end());
  const { app } = stage();
  beforeAll(async () => {
    client = new Client(app.ownerUrl);
    await client.connect();
  });

  it('asks one part for each user or group that it names, except for those with a reason', async () => {
    const several: string[] = [];
    for (const [name, text] of distributedForms) if ((await partsAskedBy(text)) > 1) several.push(name);
    expect(several.sort()).toEqual(Object.values(SEVERAL_PARTS).flat().sort());
  });

  /** Returns the highest number of parts that a step of the statement asks, and no end of them if it is refused. */
  async function partsAskedBy(text: string): Promise<number> {
    await client.query(`PREPARE one AS ${text}`);
    const { rows } = await client.query<{ types: string[] }>(
      `SELECT parameter_types::text[] AS types FROM pg_prepared_statements WHERE name = 'one'`,
    );
    await client.query('DEALLOCATE one');
    try {
      const plan = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, rows[0]?.types.map(valueOf));
      const lines = plan.rows.map((row) => row['QUERY PLAN']);
      return Math.max(0, ...lines.map((line) => Number(/Task Count: (\d+)/.exec(line)?.[1] ?? 0)));
    } catch {
      return Infinity;
    }
  }
});

/** Returns a value of this type. A list has one, since each value may ask a part of its own. */
function valueOf(type: string): unknown {
  if (type.endsWith('[]')) return [valueOf(type.slice(0, -2))];
  if (/^(bigint|integer|smallint|numeric|double precision|real)$/.test(type)) return 1;
  if (type.startsWith('timestamp')) return '2026-11-27';
  if (type.startsWith('json')) return '{}';
  return type === 'boolean' ? true : 'ann';
}
