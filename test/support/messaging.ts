import type { TestApp } from './app';
import { untilEventsSeen } from './events';
import type { RongCloudStandIn } from './stand-ins/rongcloud';
import { until } from './until';

export function rongCloudEnv({ appKey, appSecret, url }: RongCloudStandIn) {
  return {
    MESSAGING_PROVIDER: 'rongcloud',
    RONGCLOUD_APP_KEY: appKey,
    RONGCLOUD_APP_SECRET: appSecret,
    RONGCLOUD_API_URL: url,
  };
}

type Database = Pick<TestApp, 'db'>;

/** Returns how many events are not read yet, or undefined while nobody has begun to read. */
export async function unread({ db }: Database): Promise<number | undefined> {
  const { rows } = await db.raw<{ rows: { count: number }[] }>(
    `SELECT (SELECT count(*)::integer FROM events
              WHERE (events.version, events.number, events.subject) > (reader.version, reader.number, reader.subject)) AS count
       FROM event_readers AS reader WHERE name = 'messaging'`,
  );
  return rows[0]?.count;
}

/** Waits until the messaging provider was told of all changes. An instance that starts reads only events from then on. */
export async function untilTold({ db }: Database): Promise<void> {
  await untilEventsSeen({ db });
  await until(async () => {
    if ((await unread({ db })) !== 0) return false;
    return (await db('messaging_turns').first('subject')) === undefined;
  });
}

/** Lets instances take each turn again now. */
export async function makeTurnsDue({ db }: Database): Promise<void> {
  await db('messaging_turns').update({ due_at: db.fn.now() });
}
