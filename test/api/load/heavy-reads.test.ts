import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { BlacklistService } from '../../../src/features/blacklist/blacklist-service';
import { FriendshipsService } from '../../../src/features/friendships/friendships-service';
import { GroupsService } from '../../../src/features/groups/groups-service';
import { SyncRepository } from '../../../src/features/sync/sync-repository';
import {
  countCodes,
  expectBody,
  expectRefusal,
  post,
  retryAfterOf,
  inParallel,
  type Answer,
} from '../../support/calls';
import { Gate } from '../../support/gate';
import { insertAndSignIn } from '../../support/people';
import { stage } from '../../support/stage';
import { cookieFor, openAnswer } from '../../support/streams';
import { settledClient } from '../../support/sync';
import { until } from '../../support/until';

const AT_ONCE = 2;
const WAITING = 8;
const NOT_TAKEN = 12;

type Read = (...args: unknown[]) => Promise<unknown>;

const ALL: [object, string][] = [
  [GroupsService.prototype, 'ofMember'],
  [BlacklistService.prototype, 'list'],
  [FriendshipsService.prototype, 'list'],
  [SyncRepository.prototype, 'rows'],
];

const READS = ['/user/groups', '/user/blacklist', '/user/sync/0', '/friendship/all'];

describe('reads of lists that may be long', () => {
  const { app } = stage();

  afterEach(() => jest.restoreAllMocks());

  // guard heavy-reads-1: two heavy reads run at a time per user
  // src/load/queues.ts
  // - per: 'user', share: 2, waiting: 8,
  // + per: 'user', share: 1e9, waiting: 8,
  // guard heavy-reads-2: eight heavy reads wait per user, and further ones are refused
  // src/load/queues.ts
  // - per: 'user', share: 2, waiting: 8,
  // + per: 'user', share: 2, waiting: 1e9,
  // guard heavy-reads-4: a heavy read of a reader waits for its turn
  // src/http/operations-router.ts
  // - if (call instanceof ReaderCall) call.reads.whenFound = enter;
  it.each(READS)('%s runs twice at once per user with eight waiting, and answers 429 to more', async (path) => {
    const ann = await insertAndSignIn(app);
    const bob = await insertAndSignIn(app);
    const answers: Answer[] = [];
    const ask = async () => answers.push(await post(ann.agent, path));
    const { reading, release } = held();
    const asked = inParallel(3 * (AT_ONCE + WAITING), ask);
    await until(() => answers.length >= 2 * (AT_ONCE + WAITING) && reading() >= AT_ONCE);
    const before = { refused: answers.length, reading: reading() };
    const his = inParallel(AT_ONCE, () => post(bob.agent, path));
    await until(() => reading() > AT_ONCE);
    release();
    await asked;

    expect(before).toEqual({ refused: 2 * (AT_ONCE + WAITING), reading: AT_ONCE });
    expect(countCodes(answers)).toEqual({ 200: AT_ONCE + WAITING, 429: 2 * (AT_ONCE + WAITING) });
    for (const refused of answers.slice(0, before.refused)) {
      expectRefusal(refused, 429);
      expect(retryAfterOf(refused)).toBeGreaterThan(0);
    }
    expect(countCodes(await his)).toEqual({ 200: AT_ONCE });
  });

  it('share these limits, and other requests of the user do not count', async () => {
    const { agent, id } = await insertAndSignIn(app);
    const { reading, release } = held();
    const answers: Answer[] = [];
    const asked = inParallel(15, async (index) => answers.push(await post(agent, READS[index % READS.length] ?? '')));
    await until(() => answers.length >= 5 && reading() >= AT_ONCE);
    expectBody(await post(agent, `/user/set_nickname`, { nickname: 'Ann' }), { code: 200 });
    expect((await post(agent, `/user/${id}`)).status).toBe(200);
    expect(reading()).toBe(AT_ONCE);
    release();
    await asked;
    expect(countCodes(answers)).toEqual({ 200: AT_ONCE + WAITING, 429: 5 });
  });

  // guard heavy-reads-3: few large answers per user wait to be read by the client
  // src/http/operations-router.ts
  // - else res.once('close', leaveAnswer);
  // + else leaveAnswer();
  it('count until the client has received the answer', async () => {
    const { agent, id, ...ann } = await insertAndSignIn(app);
    const cookie = await cookieFor(app, { id, ...ann });
    await insertLargeGroups(id);
    const unread: IncomingMessage[] = [];
    while (unread.length < NOT_TAKEN) unread.push(await openAnswer(app, '/user/groups', cookie));
    expect(unread.map(({ statusCode }) => statusCode)).toEqual(Array(NOT_TAKEN).fill(200));
    for (const path of READS) expect((await post(agent, path)).status).toBe(429);
    const bob = await insertAndSignIn(app);
    for (const path of READS) expect((await post(bob.agent, path)).status).toBe(200);

    const [read, left, ...others] = unread;
    expect(read && JSON.parse(await text(read))).toMatchObject({ code: 200 });
    left?.destroy();
    await until(async () => (await post(agent, '/user/blacklist')).status === 200);
    for (const answer of others) answer.destroy();
  });

  /** Inserts groups whose list is far larger than what the sockets hold. */
  async function insertLargeGroups(memberId: string): Promise<void> {
    await app.db.raw(
      `INSERT INTO groups (id, name, creator_id)
         SELECT 'large' || n, repeat('x', 50000), ? FROM generate_series(1, 200) n`,
      [memberId],
    );
    await app.db.raw(
      `INSERT INTO group_members (group_id, member_id) SELECT 'large' || n, ? FROM generate_series(1, 200) n`,
      [memberId],
    );
  }

  // guard heavy-reads-5: slow reads of a user hold no turns of syncs that have waited
  // src/http/operations-router.ts
  // - waited ? () => undefined : await queues.heavyReads.enter(userId)
  // + await queues.heavyReads.enter(userId)
  it('do not delay the answer to a sync that has waited', async () => {
    const ann = await insertAndSignIn(app);
    const { version } = await settledClient(ann);
    const answer = post(ann.agent, `/user/sync/${version}`, { wait: 50 });
    await until(() => app.liveSyncs() === 1);
    const { reading, release } = held([[BlacklistService.prototype, 'list']]);
    const asked = inParallel(AT_ONCE, () => post(ann.agent, '/user/blacklist'));
    await until(() => reading() === AT_ONCE);
    expectBody(await post(ann.agent, `/user/set_nickname`, { nickname: 'Annabel' }), { code: 200 });
    expect(await answer).toMatchObject({ status: 200, body: { result: { user: { nickname: 'Annabel' } } } });
    release();
    await asked;
  });

  /** Keeps each of these reads waiting before it queries the database, until they are released. */
  function held(reads = ALL) {
    const gate = new Gate();
    let reading = 0;
    const hold = (owner: object, name: string) => {
      const read = Reflect.get(owner, name) as Read;
      jest.spyOn(owner as Record<string, Read>, name).mockImplementation(async function (this: unknown, ...args) {
        reading += 1;
        await gate.wait();
        return read.apply(this, args);
      });
    };
    for (const [owner, name] of reads) hold(owner, name);
    return { reading: () => reading, release: () => gate.open() };
  }
});
