import type { Env, TestApp } from './app';
import { untilEventsSeen } from './events';
import { startRongCloudStandIn, type RongCloudStandIn } from './stand-ins/rongcloud';
import type { Person } from './people';
import { currentOf, stage } from './stage';
import { until } from './until';

export function rongCloudEnv({ appKey, appSecret, url }: RongCloudStandIn) {
  return {
    MESSAGING_PROVIDER: 'rongcloud',
    RONGCLOUD_APP_KEY: appKey,
    RONGCLOUD_APP_SECRET: appSecret,
    RONGCLOUD_API_URL: url,
  };
}

/** Like `stage`, with a stand-in for RongCloud. The settings that name it are for other instances and for commands. */
export function rongCloudStage(options: { people?: number } = {}) {
  let standIn: RongCloudStandIn | undefined;
  const vendor = currentOf(() => standIn);
  const env = currentOf<Env>(() => rongCloudEnv(vendor));
  beforeAll(async () => {
    standIn = await startRongCloudStandIn();
  });
  const staged = stage({ ...options, env: () => env });
  beforeAll(() => untilTold(staged.app));
  afterEach(() => vendor.behave('accept'));
  afterAll(() => vendor.close());
  return { ...staged, vendor, env };
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

/** Waits until the reader of events has read all of before. */
export async function untilRead({ db }: Database): Promise<void> {
  await untilEventsSeen({ db });
  await until(async () => (await unread({ db })) === 0);
}

/** Waits until the messaging provider was told of all changes. An instance that starts reads only events from then on. */
export async function untilTold({ db }: Database): Promise<void> {
  await untilEventsSeen({ db });
  await until(async () => {
    if ((await unread({ db })) !== 0) return false;
    if (await db('event_readers').where({ name: 'messaging copy' }).first('name')) return false;
    return (await db('messaging_turns').first('subject')) === undefined;
  });
}

/** Waits until the provider was told, and expects that its copies are those of the database. */
export async function expectEqualCopies(
  app: Database,
  vendor: RongCloudStandIn,
  people: Pick<Person, 'id'>[],
  groups: string[],
): Promise<void> {
  await untilTold(app);
  const copies = {
    profiles: people.map(({ id }) => vendor.profile(id)),
    blacklists: people.map(({ id }) => vendor.blacklist(id)),
    groups: groups.map((id) => vendor.group(id)),
  };
  expect(copies).toEqual(await originals(app, people, groups));
}

/** Returns profiles, blacklists and groups. The provider learns the profile of a user with the first token. */
async function originals({ db }: Database, people: Pick<Person, 'id'>[], groups: string[]) {
  const profileOf = async ({ id }: Pick<Person, 'id'>) => {
    const hasToken = await db('messaging_tokens').where({ user_id: id }).first<{ app: string } | undefined>('app');
    const columns = { name: 'nickname', portraitUri: 'portrait_uri' };
    return hasToken ? db('users').where({ id }).first<{ name: string; portraitUri: string }>(columns) : undefined;
  };
  const blacklistOf = ({ id }: Pick<Person, 'id'>) =>
    db('blacklist').where({ user_id: id, status: true }).pluck<string[]>('friend_id');
  const groupOf = async (id: string) => {
    const living = db('groups').where({ id, dismissed_at: null });
    const group = await living.first<{ name: string } | undefined>('name');
    const members = db('group_members').where({ group_id: id, is_deleted: false });
    return group && { name: group.name, members: (await members.pluck<string[]>('member_id')).sort() };
  };
  const blacklists = await Promise.all(people.map(blacklistOf));
  return {
    profiles: await Promise.all(people.map(profileOf)),
    blacklists: blacklists.map((ids) => ids.sort()),
    groups: await Promise.all(groups.map(groupOf)),
  };
}

/** Lets instances take each turn again now, also for what they would look at again later. */
export async function makeTurnsDue({ db }: Database): Promise<void> {
  await db('messaging_changes').where({ what: 'again' }).update({ at: db.fn.now() });
  await db('messaging_turns').update({ due_at: db.fn.now() });
}
