import { startApp, type TestApp } from '../../support/app';
import { expectBody, expectRefusal, inParallel, post, type Answer } from '../../support/calls';
import { FaultProxy } from '../../support/fault-proxy';
import { befriend, callGroup, idsOf } from '../../support/groups';
import { insertAndSignIn, insertPerson, type SignedInPerson } from '../../support/people';
import { stage } from '../../support/stage';
import { until } from '../../support/until';

/** An undisturbed instance, to look at what the database really holds. */
const { app: witness } = stage();
let proxy: FaultProxy;
let app: TestApp;
let people: [SignedInPerson, SignedInPerson];

beforeEach(async () => {
  proxy = await FaultProxy.start(witness.databaseUrl);
  app = await startApp({}, { databaseUrl: proxy.url, dataDir: witness.dataDir });
  people = [await insertAndSignIn(app), await insertAndSignIn(app)];
});
afterEach(async () => {
  proxy.resume();
  await app.close();
  await proxy.close();
});

const rename = ({ agent }: SignedInPerson, nickname: string) => post(agent, '/user/set_nickname', { nickname });

const nicknameOf = async ({ id }: { id: string }) =>
  (await witness.db('users').where({ id }).first<{ nickname: string }>('nickname')).nickname;

const groupsOf = (creator: SignedInPerson) => witness.db('groups').where({ creator_id: creator.id }).pluck('name');

const create = (creator: SignedInPerson, name: string) =>
  callGroup(creator, 'create', { name, memberIds: idsOf(people.slice(1)) });

/** Breaks all connections once a statement has been sent, and lets new ones through. */
async function cutAt(words: string, call: () => Promise<Answer>): Promise<Answer> {
  proxy.stallAt(words);
  const answer = call();
  await until(() => proxy.stalled);
  proxy.cut();
  proxy.resume();
  return answer;
}

describe('a short outage of the database, such as a switchover', () => {
  // guard switchover-1: requests wait for the end of a short outage
  // src/database/connection-watch.ts
  // - const WAIT_MS = 5_000;
  // + const WAIT_MS = 0;
  it('fails no call: reads, writes, transactions and logins wait until it is over', async () => {
    const [ann, bob] = people;
    const others = await inParallel(3, () => insertPerson(app));
    await befriend(witness, ann, [bob]);
    proxy.refuse();
    const calls = [
      rename(ann, 'Anna'),
      post(ann.agent, `/user/${bob.id}`),
      post(ann.agent, '/user/sync/0'),
      post(bob.agent, '/user/add_to_blacklist', { friendId: others[0]?.id }),
      create(ann, 'Hiking'),
      ...others.map((person) => post(app.api, '/user/login', person)),
    ];
    const answers = Promise.all(calls);
    // Each of several requests was refused a connection, and has tried again since.
    await until(() => proxy.refused > 20);
    proxy.resume();
    expect((await answers).map(({ status }) => status)).toEqual(calls.map(() => 200));
    expect(await nicknameOf(ann)).toBe('Anna');
    expect(await groupsOf(ann)).toEqual(['Hiking']);
  });

  it('leaves the health check quick: another instance may answer', async () => {
    expect((await app.api.get('/readyz')).status).toBe(200);
    proxy.refuse();
    const waiting = rename(people[0], 'Anna');
    await until(() => proxy.refused > 0);
    expect((await app.api.get('/readyz')).status).toBe(503);
    proxy.resume();
    expectBody(await waiting, { code: 200 });
  });
});

describe('a connection that breaks', () => {
  // guard switchover-2: a read whose connection broke is sent again
  // src/database/shared-reads.ts
  // - if (!isOutdated(error) && !(isCut(error) && this.options.watch.waits)) throw error;
  // + if (!isOutdated(error)) throw error;
  it('during a read costs time only', async () => {
    const [ann, bob] = people;
    const answer = await cutAt(bob.id, () => post(ann.agent, `/user/${bob.id}`));
    expect(answer).toMatchObject({ status: 200, body: { result: { id: bob.id } } });
  });

  // guard switchover-3: a transaction whose connection broke before its COMMIT runs again
  // src/database/transaction.ts
  // - (error) => isTransient(error) || isCut(error),
  // + isTransient,
  it('during a transaction, before its COMMIT, makes it run again, once in all', async () => {
    await befriend(witness, people[0], people.slice(1));
    const answer = await cutAt('insert into "groups"', () => create(people[0], 'Hiking'));
    expect(answer.status).toBe(200);
    expect(await groupsOf(people[0])).toEqual(['Hiking']);
  });

  // guard switchover-4: a transaction that may have been committed does not run again
  // src/database/pool.ts
  // - throw query.sql === COMMIT && isLostConnection(error) && !isUnsent(error) ? new CommitLost(error) : error;
  // + throw error;
  it('during a COMMIT is a 503, and what was committed is not done twice', async () => {
    await befriend(witness, people[0], people.slice(1));
    proxy.loseAnswerTo('COMMIT;');
    const answer = create(people[0], 'Hiking');
    await until(() => proxy.lost);
    await until(async () => (await groupsOf(people[0])).length > 0);
    proxy.cut();
    expectRefusal(await answer, 503, '', 'overloaded');
    expect(await groupsOf(people[0])).toEqual(['Hiking']);
  });

  // guard switchover-5: a write outside of a transaction is not sent twice
  // src/database/pool.ts
  // - isCut(error) && (isUnsent(error) || isRead(builder))
  // + isCut(error)
  it('during a write outside of a transaction is a 503, and the write is not sent again', async () => {
    const [ann] = people;
    proxy.loseAnswerTo('update "users"');
    const answer = rename(ann, 'Anna');
    await until(() => proxy.lost);
    await until(async () => (await nicknameOf(ann)) === 'Anna');
    await witness.db('users').where({ id: ann.id }).update({ nickname: 'Written by another' });
    proxy.cut();
    expectRefusal(await answer, 503, '', 'overloaded');
    expect(await nicknameOf(ann)).toBe('Written by another');
  });
});
