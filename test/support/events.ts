import type { TestApp } from './app';
import { otherServers } from './database';
import { until } from './until';

/** Waits until readers can see every event of before. On several servers an instance gathers them. */
export async function untilEventsSeen({ db }: Pick<TestApp, 'db'>): Promise<void> {
  if (otherServers().length > 0) {
    const { rows } = await db.raw<{ rows: { clock: number }[] }>('SELECT sync_clock() AS clock');
    const clock = rows[0]?.clock ?? 0;
    await until(async () => {
      const [elsewhere] = await db('events_elsewhere').where('version', '<=', clock).count<{ count: number }[]>();
      if (Number(elsewhere?.count) > 0) return false;
      const unseen = db.raw('sync_horizon()');
      return (
        (await db('events').where('version', '<=', clock).where('version', '>', unseen).first('version')) === undefined
      );
    });
    return;
  }
  const seen = db.raw('coalesce(max(version), 0) <= sync_horizon() AS "areSeen"');
  await until(async () => (await db('events').first<{ areSeen: boolean }>(seen)).areSeen);
}
