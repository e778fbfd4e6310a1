import type { TestApp } from './app';
import { until } from './until';

/** Waits until readers can see every event of before. */
export async function untilEventsSeen({ db }: Pick<TestApp, 'db'>): Promise<void> {
  const seen = db.raw('coalesce(max(version), 0) <= sync_horizon() AS "areSeen"');
  await until(async () => (await db('events').first<{ areSeen: boolean }>(seen)).areSeen);
}
