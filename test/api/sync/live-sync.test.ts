import { connect, type Socket } from 'node:net';
import { SyncService } from '../../../src/features/sync/sync-service';
import type { ReaderCall } from '../../../src/http/operation';
import { QUEUES } from '../../../src/load/queues';
import type { TestApp } from '../../support/app';
import { expectRefusal, inParallel, post, type Answer } from '../../support/calls';
import { untilEventsSeen } from '../../support/events';
import type { SyncResult } from '../../support/folding-client';
import { befriend, callGroup, createGroup } from '../../support/groups';
import { Gate } from '../../support/gate';
import { instancesBeside } from '../../support/instances';
import { expectOk, insertAndSignIn, signIn, type SignedInPerson } from '../../support/people';
import { realTime } from '../../support/real-time';
import { stage } from '../../support/stage';
import { connectWriter, isEmpty, settledClient, sync } from '../../support/sync';
import { watchStatements, type SentStatements } from '../../support/statements';
import { cookieFor, openAnswer } from '../../support/streams';
import { until } from '../../support/until';
import { cancelWaiting, untilWaiting } from '../../support/waiting';

const { app, ann, bob } = stage({ people: 2, ownCluster: true });
let group: string;

beforeEach(async () => {
  // Connections of the test before may still be ending.
  await until(() => app.liveSyncs() === 0);
  await befriend(app, ann, [bob]);
  group = await createGroup(app, [ann, bob]);
  await createGroup(app, [ann, bob]);
});
afterEach(() => jest.restoreAllMocks());

const instance = instancesBeside(() => app);

/** Starts an instance that may stop, and signs both in there. */
async function instanceThatStops(): Promise<TestApp> {
  const other = await instance();
  for (const person of [ann, bob]) Object.assign(person, await signIn(other, person));
  return other;
}

/** Returns the answer to a sync of Ann that has nothing to answer yet, before its wait is over. */
async function waitingSync(asked: object = { names: true }): Promise<Answer> {
  const { version } = await settledClient(ann);
  let answer: Answer | undefined;
  void post(ann.agent, `/user/sync/${version}`, { wait: 50, ...asked }).then((one) => (answer = one));
  // A wait of 50 lasts for at least 40 seconds.
  await until(() => answer !== undefined, 39_000);
  return answer as unknown as Answer;
}

/** Returns five calls of this person that wait for this many seconds. */
function waiting({ agent }: SignedInPerson, { version }: { version: number }, wait = 50): Promise<Answer>[] {
  return Array.from({ length: 5 }, () => post(agent, `/user/sync/${version}`, { wait }));
}

const answered = ({ sent }: SentStatements) => sent.filter(({ isAnswered }) => isAnswered);

/** Returns a request as it is sent. */
function asText(line: string, headers: object, body?: object): string {
  const content = body ? JSON.stringify(body) : '';
  const all = { ...headers, Host: 'accounts', 'Content-Type': 'application/json', 'Content-Length': content.length };
  const heads = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${heads.join('')}\r\n${content}`;
}

type Change = [name: string, make: () => Promise<unknown>, found: (result: SyncResult) => unknown];

const changes: Change[] = [
  [
    'an own nickname',
    () => expectOk(ann.agent.post('/user/set_nickname').send({ nickname: 'Annabel' })),
    ({ user }) => user.nickname === 'Annabel',
  ],
  [
    'an entry of the blacklist',
    () => expectOk(ann.agent.post('/user/add_to_blacklist').send({ friendId: bob.id })),
    ({ blacklist }) => blacklist[0]?.friendId === bob.id,
  ],
  [
    'a nickname of a friend, who is in two of her groups',
    () => expectOk(bob.agent.post('/user/set_nickname').send({ nickname: 'Bobby' })),
    ({ friends, group_members }) => friends.length === 1 && group_members.length === 2,
  ],
  [
    'a request to be friends',
    async () => {
      const carol = await insertAndSignIn(app, 'Carol');
      await expectOk(carol.agent.post('/friendship/invite').send({ friendId: ann.id }));
    },
    ({ friends }) => friends.length === 1,
  ],
  [
    'a new name of a group',
    async () => expectOk(await callGroup(ann, 'rename', { groupId: group, name: 'Walkers' })),
    ({ groups }) => groups.length === 1,
  ],
  [
    'a member who leaves',
    async () => expectOk(await callGroup(bob, 'quit', { groupId: group })),
    ({ group_members }) => group_members[0]?.isDeleted,
  ],
  [
    'a group that she is brought into',
    () => expectOk(bob.agent.post('/group/create').send({ name: 'Hikers', memberIds: [ann.id] })),
    ({ groups }) => groups.length === 1,
  ],
  [
    'a row of another service',
    async () => {
      const writer = await connectWriter(app);
      await writer.query(`UPDATE groups SET name = 'Walkers' WHERE id = $1`, [group]);
      await writer.end();
    },
    ({ groups }) => groups.length === 1,
  ],
  [
    'two users whom another service renames at once',
    async () => {
      const writer = await connectWriter(app);
      await writer.query('BEGIN');
      await writer.query(`UPDATE users SET nickname = 'Robin' WHERE id IN ($1, $2)`, [ann.id, bob.id]);
      for (const { id } of [ann, bob]) await writer.query('SELECT user_renamed($1)', [id]);
      await writer.query('COMMIT');
      await writer.end();
    },
    ({ user, friends }) => user.nickname === 'Robin' || friends.length === 1,
  ],
];

describe('a sync that waits', () => {
  // guard live-sync-2: a sync that has waited finds its session again
  // src/http/waiting-answers.ts
  // - if (access) await handled(access, req, res);
  it.each(changes)('is answered with %s', async (_, make, found) => {
    const answer = waitingSync();
    await until(() => app.liveSyncs() === 1);
    await make();
    const { result } = await expectOk(await answer);
    expect(found(result as SyncResult)).toBeTruthy();
  });

  // guard live-sync-14: a user hears of the name of a friend who has ended the friendship
  // src/features/sync/live-syncs.ts
  // - SELECT DISTINCT user_id AS id FROM friendships WHERE friend_id = ANY
  // + SELECT DISTINCT friend_id AS id FROM friendships WHERE user_id = ANY
  it('is answered with a nickname of a friend who has ended the friendship', async () => {
    const dan = await insertAndSignIn(app, 'Dan');
    await befriend(app, ann, [dan]);
    await expectOk(dan.agent.post('/friendship/delete').send({ friendId: ann.id }));
    const answer = waitingSync();
    await until(() => app.liveSyncs() === 1);
    await expectOk(dan.agent.post('/user/set_nickname').send({ nickname: 'Danny' }));
    expect((await expectOk(await answer)).result).toMatchObject({ friends: [{ user: { nickname: 'Danny' } }] });
  });

  it('is answered at once if there is something', async () => {
    const { result } = await expectOk(ann.agent.post('/user/sync/0').send({ wait: 50 }));
    expect(isEmpty(result as SyncResult)).toBe(false);
  });

  it('is answered without changes when its time is over', async () => {
    const { result } = await expectOk(await waitingSync({ wait: 1 }));
    expect(isEmpty(result as SyncResult)).toBe(true);
  });

  it('is answered without another look when its time is over and it has heard of nothing', async () => {
    await untilEventsSeen(app);
    const { version } = await settledClient(ann);
    const looks = watchStatements('sync_clock() AS clock');
    const { result } = await expectOk(ann.agent.post(`/user/sync/${version}`).send({ wait: 2 }));
    expect(looks.sent).toHaveLength(1);
    expect(isEmpty(result as SyncResult)).toBe(true);
    expect(result).toMatchObject({ user: { id: ann.id, nickname: 'Ann' } });
    await expectOk(ann.agent.post('/user/set_nickname').send({ nickname: 'Annabel' }));
    const next = (result as SyncResult).version;
    expect((await expectOk(ann.agent.post(`/user/sync/${next}`))).result).toMatchObject({
      user: { nickname: 'Annabel' },
    });
  });

  // guard live-sync-7: a sync that may have missed a change looks again at its end
  // src/features/sync/sync-router.ts
  // - && live.hears
  // guard live-sync-15: waits that may have missed a change do not all ask the database at their end
  // src/features/sync/sync-router.ts
  // - if (this.result === undefined)
  // + if (this.hasChanged)
  it('looks again when its time is over if it may have missed a change, in its turn', async () => {
    const client = await settledClient(ann);
    const gate = new Gate();
    watchStatements('FROM events', { beforeSending: () => gate.wait() });
    const answers = waiting(ann, client, 12);
    await gate.reached;
    await until(() => app.liveSyncs() === answers.length);
    await expectOk(ann.agent.post('/user/set_nickname').send({ nickname: 'Annabel' }));
    const looks = watchStatements('sync_clock()', { beforeSending: () => realTime(1_000) });
    for (const answer of answers)
      expect((await expectOk(await answer)).result).toMatchObject({ user: { nickname: 'Annabel' } });
    expect(looks.mostAtOnce).toBeLessThanOrEqual(2);
    gate.open();
  });

  it('goes on waiting when strangers change something', async () => {
    const answer = waitingSync();
    await until(() => app.liveSyncs() === 1);
    const stranger = await insertAndSignIn(app, 'Carol');
    await expectOk(stranger.agent.post('/user/set_nickname').send({ nickname: 'Caro' }));
    await expectOk(bob.agent.post('/user/set_nickname').send({ nickname: 'Bobby' }));
    const { result } = await expectOk(await answer);
    expect(result).toMatchObject({ friends: [{ friendId: bob.id }] });
  });

  // guard live-sync-8: a sync that is refused after its wait is told so
  // src/http/waiting-answers.ts
  // - fail(error, res);
  // + throw error;
  it.each([
    ['logs out', () => post(ann.agent, '/user/logout')],
    [
      'has a new password elsewhere',
      async () => {
        const { region, phone, password } = ann;
        const other = await signIn(app, ann);
        return post(other.agent, '/user/change_password', {
          region,
          phone,
          oldPassword: password,
          newPassword: 'password-2',
        });
      },
    ],
    ['is suspended', () => app.db('users').where({ id: ann.id }).update({ suspended_at: new Date() })],
  ])('is refused when the user %s', async (_, end) => {
    const answer = waitingSync();
    await until(() => app.liveSyncs() === 1);
    await end();
    expectRefusal(await answer, 401);
    expect(app.liveSyncs()).toBe(0);
  });

  // guard live-sync-20: a session that ends while a wait begins does not go on waiting
  // src/features/sync/sync-service.ts
  // - reader.reads.checkAgain();
  it('is refused when the user logs out while it begins', async () => {
    const gate = new Gate();
    watchStatements('SELECT sync_horizon() AS version', { beforeSending: () => gate.wait() });
    const answer = waitingSync();
    await gate.reached;
    await expectOk(ann.agent.post('/user/logout'));
    gate.open();
    expectRefusal(await answer, 401);
  });

  // guard live-sync-4: a user has few syncs that wait
  // src/load/queues.ts
  // - per: 'user', share: 5, waiting: 0, refusal: tooManyOwn
  // + per: 'user', share: 500, waiting: 0, refusal: tooManyOwn
  it('is one of five of a user; a sixth gets 429, and syncs that do not wait are answered', async () => {
    const answers = inParallel(5, () => waitingSync());
    await until(() => app.liveSyncs() === 5);
    const { version } = await settledClient(ann);
    expectRefusal(await post(ann.agent, `/user/sync/${version}`, { wait: 50 }), 429, '', 'too_many_at_once');
    await expectOk(ann.agent.post(`/user/sync/${version}`));
    await expectOk(ann.agent.post('/user/set_nickname').send({ nickname: 'Annabel' }));
    for (const answer of await answers) await expectOk(answer);
    expect(app.liveSyncs()).toBe(0);
  });

  // guard live-sync-3: a sync that waits holds no place of an answer
  // src/http/operations-router.ts
  // - if (result instanceof DeferredAnswer) slot?.leaveAnswer();
  it('holds no place of an answer, however often it is woken', async () => {
    const carol = await insertAndSignIn(app, 'Carol');
    await befriend(app, ann, [carol]);
    const answers = inParallel(5, () => waitingSync({}));
    await until(() => app.liveSyncs() === 5);
    for (const nickname of ['Caro', 'Carola', 'Carolina']) {
      // Without names in sync, her friends get nothing of this.
      await expectOk(carol.agent.post('/user/set_nickname').send({ nickname }));
      await realTime(500);
    }
    await expectOk(ann.agent.post('/user/set_nickname').send({ nickname: 'Annabel' }));
    for (const answer of await answers) await expectOk(answer);
  });

  // guard live-sync-17: a sync that waits keeps its options, but not its body
  // src/http/waiting-answers.ts
  // - req.body = undefined;
  it('keeps its options, but not its body', async () => {
    const opened = jest.spyOn(SyncService.prototype, 'live');
    const answer = waitingSync({ names: true, junk: Array(1_000).fill({}) });
    await until(() => app.liveSyncs() === 1);
    const [call] = opened.mock.lastCall as unknown as [ReaderCall];
    await until(() => call.req.body === undefined, 39_000);
    await expectOk(bob.agent.post('/user/set_nickname').send({ nickname: 'Bobby' }));
    expect((await expectOk(await answer)).result).toMatchObject({ friends: [{ user: { nickname: 'Bobby' } }] });
  });

  // guard live-sync-18: the waits of an instance are bounded
  // src/features/sync/sync-service.ts
  // - const leave = this.queues.liveSyncsInAll.take(address, { abort: end });
  // + const leave = () => end();
  // guard live-sync-19: an address that has most waits gives one up for another
  // src/load/queues.ts
  // - share: 10_000, waiting: 0, aborts: 'oldest', refusal: manyWaiting
  // + share: 10_000, waiting: 0, refusal: manyWaiting
  it('ends without changes if all places are taken, and it is the oldest of the address with most', async () => {
    jest.replaceProperty(QUEUES.liveSyncsInAll, 'atOnce', 3);
    const full = await instance({ TRUST_PROXY: '1' });
    const [many, few] = [await signIn(full, ann), await signIn(full, bob)];
    const { version } = await settledClient(many);
    const waitFrom = (address: string, { agent }: SignedInPerson) =>
      agent.post(`/user/sync/${version}`).set('X-Forwarded-For', address).send({ wait: 50 });
    const answers: Promise<Answer>[] = [];
    for (const count of [1, 2, 3]) {
      answers.push(waitFrom('203.0.113.1', many).then());
      await until(() => full.liveSyncs() === count);
    }
    expectRefusal(await waitFrom('203.0.113.1', many), 503, '', 'overloaded');
    const other = waitFrom('203.0.113.2', few).then();
    const { result } = await expectOk(await (answers[0] as Promise<Answer>));
    expect(isEmpty(result as SyncResult)).toBe(true);
    await until(() => full.liveSyncs() === 3);
    full.announceStop();
    for (const answer of [...answers.slice(1), other]) await expectOk(await answer);
  });

  // guard live-sync-1: an event is not overtaken by a later one
  // src/features/events/events-repository.ts
  // - AND version <= (SELECT sync_horizon())
  it('hears of a change that is committed after later ones', async () => {
    const answer = waitingSync();
    await until(() => app.liveSyncs() === 1);
    const writer = await connectWriter(app);
    await writer.query('BEGIN');
    await writer.query(`UPDATE groups SET name = 'Walkers' WHERE id = $1`, [group]);
    await insertAndSignIn(app, 'Carol');
    const looks = watchStatements('FROM events');
    await until(() => answered(looks).length > 3);
    await writer.query('COMMIT');
    await writer.end();
    const { result } = await expectOk(await answer);
    expect(result).toMatchObject({ groups: [{ group: { name: 'Walkers' } }] });
  });

  // guard live-sync-5: a sync that waits ends with its client
  // src/features/sync/live-syncs.ts
  // - this.end(); this.endTurn(); this.lives.remove(this); this.freePlace();
  it('leaves its place when its client leaves', async () => {
    const { version } = await settledClient(ann);
    const request = ann.agent.post(`/user/sync/${version}`).send({ wait: 50 });
    request.end(() => undefined);
    await until(() => app.liveSyncs() === 1);
    request.abort();
    await until(() => app.liveSyncs() === 0);
  });

  it('hears of what was changed while the database was away', async () => {
    const answer = waitingSync();
    await until(() => app.liveSyncs() === 1);
    const writer = await connectWriter(app);
    await writer.query('BEGIN');
    await writer.query(`UPDATE groups SET name = 'Walkers' WHERE id = $1`, [group]);
    await writer.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    await writer.query('COMMIT');
    await writer.end();
    const { result } = await expectOk(await answer);
    expect(result).toMatchObject({ groups: [{ group: { name: 'Walkers' } }] });
  });

  // guard live-sync-9: a client that reads slowly lets others look for what has changed
  // src/features/sync/sync-router.ts
  // -       this.release();
  // -       return schemas.changesView(changes);
  // + return schemas.changesView(changes);
  it('is answered while those before it read their answers slowly, with two turns of a user', async () => {
    const { version } = await settledClient(ann);
    const cookie = await cookieFor(app, ann);
    const unread = inParallel(5, () => openAnswer(app, `/user/sync/${version}`, cookie, { wait: 50 }));
    await until(() => app.liveSyncs() === 5);
    await app
      .db('groups')
      .where({ id: group })
      .update({ name: 'x'.repeat(500_000) });
    for (const answer of await unread) {
      expect(answer.statusCode).toBe(200);
      answer.destroy();
    }
  });

  describe('leaves its place, also while an earlier answer does not end,', () => {
    let socket: Socket;
    let version: number;

    beforeEach(async () => {
      ({ version } = await settledClient(ann));
      const { hostname, port } = new URL(app.url);
      socket = connect(Number(port), hostname);
      socket.write(asText('GET /user/changes', await cookieFor(app, bob)));
      await until(() => app.liveSyncs() === 1);
    });
    afterEach(() => socket.destroy());

    async function ask(seconds: number): Promise<void> {
      socket.write(asText(`POST /user/sync/${version}`, await cookieFor(app, ann), { wait: seconds }));
      await until(() => app.liveSyncs() === 2);
    }

    // guard live-sync-10: a call whose time is over keeps no place while its connection is busy
    // src/http/waiting-answers.ts
    // - wait.release();
    it('when its time is over', async () => {
      await ask(2);
      await until(() => app.liveSyncs() === 1);
    });

    it('when it is refused', async () => {
      await ask(50);
      await app.db('users').where({ id: ann.id }).update({ suspended_at: new Date() });
      await until(() => app.liveSyncs() === 1);
    });

    // guard live-sync-12: a call whose look fails keeps no place while its connection is busy
    // src/features/sync/sync-router.ts
    // -       this.release();
    // -       throw error;
    // + throw error;
    it('when its first look fails', async () => {
      const writer = await connectWriter(app);
      await writer.query('BEGIN; LOCK TABLE friendships');
      await ask(50);
      await untilWaiting(app.db, 1);
      await cancelWaiting(app.db);
      await until(() => app.liveSyncs() === 1);
      await writer.end();
    });

    // guard live-sync-16: a page that is refused keeps no place while its connection is busy
    // src/features/sync/changes-router.ts
    // - live.leave(); } res.end();
    // + } res.end();
    it('when a page is refused before it is told anything', async () => {
      const gate = new Gate();
      // The second time, after its place was taken.
      const reads = watchStatements('SELECT group_id AS id', {
        beforeSending: async () => reads.sent.length > 1 && gate.wait(),
      });
      socket.write(asText('GET /user/changes', await cookieFor(app, ann)));
      await gate.reached;
      await app.db('users').where({ id: ann.id }).update({ suspended_at: new Date() });
      gate.open();
      await until(() => app.liveSyncs() === 1);
    });

    it('when its connection ends', async () => {
      await ask(50);
      socket.destroy();
      await until(() => app.liveSyncs() === 0);
    });
  });

  // guard live-sync-13: clients do not call hundreds of times a second while an older transaction is open
  // src/features/sync/sync-router.ts
  // - isRepeated && !this.hasChanged
  // + false
  it('repeats what has been sent only after a pause, while an older transaction is open', async () => {
    await untilEventsSeen(app);
    const client = await settledClient(ann);
    const writer = await connectWriter(app);
    await writer.query('BEGIN');
    await writer.query(`UPDATE groups SET name = 'Walkers' WHERE id = $1`, [group]);
    await expectOk(ann.agent.post('/user/set_nickname').send({ nickname: 'Annabel' }));
    const { version } = await sync(ann, client.version);
    const begun = Date.now();
    const { result } = await expectOk(ann.agent.post(`/user/sync/${version}`).send({ wait: 50 }));
    expect(Date.now() - begun).toBeGreaterThan(4_500);
    expect(result).toMatchObject({ user: { nickname: 'Annabel' } });
    const next = post(ann.agent, `/user/sync/${version}`, { wait: 50 });
    await until(() => app.liveSyncs() === 1);
    await writer.query('COMMIT');
    await writer.end();
    expect((await expectOk(await next)).result).toMatchObject({ user: { nickname: 'Annabel' } });
  });

  // guard live-sync-11: thousands that have heard of a change do not ask the database at once when their instance stops
  // src/features/sync/sync-router.ts
  // - live.hasEnded ||
  it('is answered without a look when the instance stops before it has its turn', async () => {
    const stopping = await instanceThatStops();
    await untilEventsSeen(app);
    const clients = [await settledClient(ann), await settledClient(bob)] as const;
    const answers = [...waiting(ann, clients[0]), ...waiting(bob, clients[1])];
    await until(() => stopping.liveSyncs() === 10);
    const gate = new Gate();
    const looks = watchStatements('sync_clock()', { beforeSending: () => gate.wait() });
    await callGroup(ann, 'rename', { groupId: group, name: 'Walkers' });
    await until(() => looks.sent.length === 4);
    stopping.announceStop();
    gate.open();
    for (const answer of answers) expect((await answer).status).toBe(200);
    expect(looks.sent).toHaveLength(4);
  });

  // guard live-sync-6: an instance that stops ends all waits
  // src/composition/container.ts
  // - services.lives.close();
  it('ends without changes when the instance stops, and asks nothing of the database', async () => {
    const stopping = await instanceThatStops();
    await untilEventsSeen(app);
    const events = watchStatements('FROM events');
    const reads = watchStatements('sync_clock()');
    const answer = waitingSync();
    await until(() => stopping.liveSyncs() === 1);
    // A change from before the wait is in the first answer, and leads to a look before the second.
    const known = answered(events).length;
    await until(() => answered(events).length > known + 1 && answered(reads).length === reads.sent.length);
    const before = reads.sent.length;
    stopping.announceStop();
    const { result } = await expectOk(await answer);
    expect(isEmpty(result as SyncResult)).toBe(true);
    expect(reads.sent).toHaveLength(before);
  });
});
