import { randomInt } from 'node:crypto';
import type { Knex } from 'knex';
import { newUserId } from '../../../src/features/users/user-id';
import { fixedWords } from '../../../src/http/operations-router';
import { amount } from '../../support/amounts';
import {
  countCodes,
  expectBody,
  expectRefusal,
  post,
  retryAfterOf,
  inParallel,
  type Answer,
} from '../../support/calls';
import { changePages } from '../../support/change-pages';
import { untilEventsSeen } from '../../support/events';
import { instancesBeside } from '../../support/instances';
import { OPERATIONS } from '../../support/operations';
import {
  insertAndSignIn,
  insertAndSignInAll,
  insertPerson,
  signIn,
  type Person,
  type SignedInPerson,
} from '../../support/people';
import { itOnOneServer } from '../../support/on-one-server';
import { stage } from '../../support/stage';
import { foldingClientOf, fullState, settledClient, sync } from '../../support/sync';
import { until } from '../../support/until';
import { LOCK_USER, whileHeld, whileOpen, withFailures } from '../../support/waiting';

const REQUEST_WAITS = 3 * 24 * 3_600;
const IGNORED_WAITS = 24 * 3_600;
const REQUEST_ENDS = 30 * 24 * 3_600;
const NOBODY = 'abcdefghijkl';
const LOCK_FRIENDS = 'SELECT FROM friendships WHERE user_id = ? FOR UPDATE';
/** A version older than any row. With it, sync returns ended rows too. */
const ANY_VERSION = 1;
/** Characters of one, two, three and four bytes. */
const OF_MANY_BYTES = 'xé山🙂';
/** Texts that are refused in a name or message. */
const NOT_PLAIN = ['a\tb', 'a\nb', '\u001b[31mred', '\u0085', '\u202Egnp.exe', '\u202A', 'a\0b'];

type Named = Pick<SignedInPerson, 'id'>;
type Side = Record<'user_id' | 'friend_id', string> & Record<'requested_at' | 'answered_at', Date | null>;

/** Returns the profile of a person without a portrait. */
const shown = ({ id, nickname }: Person) => ({ id, nickname, portraitUri: '' });

describe('friendships', () => {
  const connect = changePages(() => app);
  const { app, ann, bob } = stage({ people: 2 });

  const call = ({ agent }: SignedInPerson, operation: string, fields: object = {}) =>
    post(agent, `/friendship/${operation}`, fields);
  const toFriend = (operation: string) => (me: SignedInPerson, other: Named) =>
    call(me, operation, { friendId: other.id });
  type Ask = ReturnType<typeof toFriend>;
  const [agree, ignore, end] = ['agree', 'ignore', 'delete'].map(toFriend) as [Ask, Ask, Ask];
  const withdraw = toFriend('withdraw');
  const invite = (me: SignedInPerson, other: Named, message?: string) =>
    call(me, 'invite', { friendId: other.id, message });
  const profileFor = (me: SignedInPerson, other: Named) => call(me, `${other.id}/profile`);
  const all = async (me: SignedInPerson) =>
    ((await call(me, 'all')).body as { result: Record<string, unknown>[] }).result;

  const expectAction = (answer: Answer, action: string) => expectBody(answer, { code: 200, result: { action } });
  const expectDone = (answer: Answer) => expectBody(answer, { code: 200 });

  async function befriend(me = ann, other = bob): Promise<void> {
    expectAction(await invite(me, other), 'Sent');
    expectDone(await agree(other, me));
  }

  /** Expects that a page of Ann, which is open since before, is told of nothing that Bob does. */
  async function expectUntold(act: () => Promise<unknown>): Promise<void> {
    await untilEventsSeen(app);
    const [page, witness] = [await connect(ann), await connect(bob)];
    await until(() => page.versions.length === 1 && witness.versions.length === 1);
    await act();
    await until(() => witness.versions.length === 2);
    expectDone(await post(ann.agent, '/user/set_nickname', { nickname: 'Annabel' }));
    const { user } = await sync(ann);
    await until(() => (page.versions.at(-1) ?? 0) >= user.timestamp);
    expect(page.versions.filter((version) => version < user.timestamp)).toHaveLength(1);
  }

  /** Returns the statuses in the table, and checks that sync gives each user the same. */
  async function statuses(): Promise<(number | undefined)[]> {
    const pairs = [
      { user_id: ann.id, friend_id: bob.id },
      { user_id: bob.id, friend_id: ann.id },
    ];
    const rows = await Promise.all(
      pairs.map((pair) => app.db('friendships').where(pair).first<{ status: number } | undefined>('status')),
    );
    for (const [index, me] of [ann, bob].entries()) {
      const friends = (await sync(me, ANY_VERSION)).friends.map(({ status }) => status);
      expect(friends).toEqual(rows[index] === undefined ? [] : [rows[index].status]);
    }
    return rows.map((row) => row?.status);
  }

  async function allRows(): Promise<unknown> {
    return app.db('friendships').whereIn('user_id', [ann.id, bob.id]).orderBy(['user_id', 'friend_id']);
  }

  /** Makes everything between the two this many seconds older. */
  async function earlier(seconds: number): Promise<void> {
    for (const side of await app.db('friendships').whereIn('user_id', [ann.id, bob.id]))
      await makeOlder(side as Side, ['requested_at', 'answered_at'], seconds);
  }

  async function earlierForAll(seconds: number): Promise<void> {
    for (const side of await app.db('friendships')) await makeOlder(side as Side, ['requested_at'], seconds);
  }

  async function makeOlder(side: Side, columns: ('requested_at' | 'answered_at')[], seconds: number): Promise<void> {
    const { user_id, friend_id } = side;
    const older = columns.map((column) => [column, side[column] && new Date(side[column].getTime() - seconds * 1_000)]);
    await app.db('friendships').where({ user_id, friend_id }).update(Object.fromEntries(older));
  }

  const statusesOf = ({ id }: Named) =>
    app.db('friendships').where({ user_id: id }).orderBy('friend_id').pluck<number[]>('status');

  const blacklist = ({ agent }: SignedInPerson, other: Named) =>
    post(agent, '/user/add_to_blacklist', { friendId: other.id });

  describe('POST /friendship/invite', () => {
    it('sends a request: one user has requested, the other is requested and sees the message', async () => {
      expectAction(await invite(ann, bob, 'Hello, Bob'), 'Sent');
      expect(await statuses()).toEqual([10, 11]);
      expect(await all(ann)).toMatchObject([{ message: '', status: 10, user: shown(bob) }]);
      expect(await all(bob)).toMatchObject([{ message: 'Hello, Bob', status: 11, user: shown(ann) }]);
    });

    it('needs no message', async () => {
      expectAction(await invite(ann, bob), 'Sent');
      expect(await all(bob)).toMatchObject([{ message: '' }]);
    });

    it.each<[string, unknown, number]>([
      ['64 characters', OF_MANY_BYTES.repeat(16), 200],
      ['65 characters', `${OF_MANY_BYTES.repeat(16)}x`, 400],
      ...NOT_PLAIN.map((text): [string, string, number] => [JSON.stringify(text), text, 400]),
      ['half a character', '\ud800', 400],
      ['no string', 5, 400],
      ['null', null, 400],
    ])('takes or refuses a message of %s: %#', async (_what, message, status) => {
      const answer = await call(ann, 'invite', { friendId: bob.id, message });
      if (status === 400) expectRefusal(answer, 400, 'message');
      else expectAction(answer, 'Sent');
    });

    it('adds a user who has already sent a request', async () => {
      expectAction(await invite(ann, bob, 'Hello'), 'Sent');
      expectAction(await invite(bob, ann), 'Added');
      expect(await statuses()).toEqual([20, 20]);
      expect(await all(bob)).toMatchObject([{ message: '' }]);
    });

    it('adds a user whose request was ignored before', async () => {
      expectAction(await invite(ann, bob), 'Sent');
      expectDone(await ignore(bob, ann));
      expectAction(await invite(bob, ann), 'Added');
      expect(await statuses()).toEqual([20, 20]);
    });

    it("adds a user who still has the caller as a friend, and leaves that user's side unchanged", async () => {
      await befriend();
      expectDone(await call(bob, 'set_display_name', { friendId: ann.id, displayName: 'Annie' }));
      expectDone(await end(ann, bob));
      const before: unknown = await app.db('friendships').where({ user_id: bob.id }).first();
      expectAction(await invite(ann, bob, 'Again'), 'Added');
      expect(await statuses()).toEqual([20, 20]);
      expect(await app.db('friendships').where({ user_id: bob.id }).first()).toEqual(before);
    });

    it('sends a new request at once after both have deleted each other', async () => {
      await befriend();
      expectDone(await end(ann, bob));
      expectDone(await end(bob, ann));
      expectAction(await invite(bob, ann, 'Sorry'), 'Sent');
      expect(await statuses()).toEqual([11, 10]);
      expect(await all(ann)).toMatchObject([{ message: 'Sorry' }]);
    });

    // guard friendships-9: an unanswered request can be sent again after three days
    // src/features/friendships/invitation.ts
    // - if (theirs?.status === REQUESTED) return sentAfter(AFTER_NO_ANSWER_SECONDS, theirs.requestedSecondsAgo);
    // + if (theirs?.status === REQUESTED) return 'Sent';
    it('sends an unanswered request again after three days, and does nothing before', async () => {
      expectAction(await invite(ann, bob, 'First'), 'Sent');
      await earlier(REQUEST_WAITS - 60);
      const before = await allRows();
      expectAction(await invite(ann, bob, 'Second'), 'None');
      expect(await allRows()).toEqual(before);
      await earlier(60);
      expectAction(await invite(ann, bob, 'Second'), 'Sent');
      expect(await all(bob)).toMatchObject([{ message: 'Second', status: 11 }]);
      // The next three days begin with that one.
      expectAction(await invite(ann, bob), 'None');
    });

    // guard friendships-10: an ignored request can be sent again after a day
    // src/features/friendships/invitation.ts
    // - return sentAfter(AFTER_IGNORED_SECONDS, theirs.answeredSecondsAgo);
    // + return 'Sent';
    it('sends an ignored request again after a day, and does nothing before', async () => {
      expectAction(await invite(ann, bob), 'Sent');
      await earlier(REQUEST_WAITS);
      expectDone(await ignore(bob, ann));
      await earlier(IGNORED_WAITS - 60);
      const before = await allRows();
      expectAction(await invite(ann, bob), 'None');
      expect(await allRows()).toEqual(before);
      await earlier(60);
      expectAction(await invite(ann, bob, 'Please'), 'Sent');
      expect(await statuses()).toEqual([10, 11]);
      expect(await all(bob)).toMatchObject([{ message: 'Please' }]);
    });

    // guard friendships-34: a request's times are separate from the row's time
    // src/features/friendships/friendships-repository.ts
    // - now() - coalesce(requested_at, updated_at)
    // + now() - updated_at
    // guard friendships-35: requests that other services write have times
    // migrations/0020_circles.up.sql
    // - NEW.requested_at := now();
    // + NULL;
    it('waits the same three days and one day after requests that another service has written', async () => {
      await app.db('friendships').insert([
        { user_id: ann.id, friend_id: bob.id, status: 10 },
        { user_id: bob.id, friend_id: ann.id, status: 11 },
      ]);
      await earlier(REQUEST_WAITS - 60);
      // An update of other columns is not a new request.
      await app.db('friendships').where({ user_id: ann.id }).update({ display_name: 'Bobby' });
      expectAction(await invite(ann, bob), 'None');
      await earlier(60);
      expectAction(await invite(ann, bob), 'Sent');
      await app.db('friendships').where({ user_id: bob.id }).update({ status: 21 });
      await earlier(IGNORED_WAITS - 60);
      expectAction(await invite(ann, bob), 'None');
      await earlier(60);
      expectAction(await invite(ann, bob), 'Sent');
    });

    it('counts from updated_at for requests from before the other times were stored', async () => {
      await app.db('friendships').insert([
        { user_id: ann.id, friend_id: bob.id, status: 10 },
        { user_id: bob.id, friend_id: ann.id, status: 11 },
      ]);
      const asked = (updated_at: Date) =>
        app.db('friendships').whereIn('user_id', [ann.id, bob.id]).update({ requested_at: null, updated_at });
      await asked(new Date());
      expectAction(await invite(ann, bob), 'None');
      await asked(new Date(Date.now() - REQUEST_WAITS * 1_000));
      expectAction(await invite(ann, bob), 'Sent');
    });

    // guard friendships-11: a user who has blacklisted the sender gets no request
    // src/features/friendships/invitation.ts
    // - if (isBlacklisted) return 'None';
    it.each([
      ['there was nothing before', async () => {}],
      ['the other has asked', async () => expectAction(await invite(bob, ann), 'Sent')],
      [
        'the wait after a request is over',
        async () => {
          expectAction(await invite(ann, bob), 'Sent');
          await earlier(REQUEST_WAITS);
        },
      ],
      [
        'the other still has the user as a friend',
        async () => {
          await befriend();
          expectDone(await end(ann, bob));
        },
      ],
    ])('does nothing, and writes nothing, for a blacklisted user when %s', async (_what, prepare) => {
      await prepare();
      expectDone(await blacklist(bob, ann));
      const before = await allRows();
      expectAction(await invite(ann, bob, 'Hello'), 'None');
      expect(await allRows()).toEqual(before);
    });

    // guard friendships-13: a blacklisted sender and one who has to wait cause the same statements
    // src/features/friendships/friendships-repository.ts
    // - const [own] = await ownRoom(
    // +     if ((await this.db('blacklist').where({ user_id: friendId, friend_id: userId, status: true }).select('status')).length > 0)
    // +       return { hasRoom: true, hasRoomToAsk: true, isBlacklisted: true, isOpenToFriends: true, isOpenToRequests: true, mine: undefined, theirs: undefined };
    // +     const [own] = await ownRoom(
    it('runs the same statements for a blacklisted user as for one who has to wait', async () => {
      const asked = async () => {
        const found: string[] = [];
        const note = ({ sql }: { sql: string }) => found.push(sql);
        app.serviceDb.on('query', note);
        expectAction(await invite(ann, bob), 'None');
        app.serviceDb.off('query', note);
        return found.filter((sql) => /users|friendships|blacklist|BEGIN|COMMIT|ROLLBACK/i.test(sql));
      };
      expectAction(await invite(ann, bob), 'Sent');
      const waiting = await asked();
      expectDone(await blacklist(bob, ann));
      expect(await asked()).toEqual(waiting);
      expect(waiting.length).toBeGreaterThanOrEqual(3);
    });

    // guard friendships-14: a friend is refused before the blacklist is checked
    // src/features/friendships/friendships-service.ts
    // - if (areFriends(relation)) throw
    // + if (!relation.isBlacklisted && areFriends(relation)) throw
    it('refuses a friend, blacklisted or not', async () => {
      await befriend();
      const before = await allRows();
      expectRefusal(await invite(ann, bob), 400, 'already');
      expectDone(await blacklist(bob, ann));
      expectRefusal(await invite(ann, bob), 400, 'already');
      expect(await allRows()).toEqual(before);
    });

    // guard friendships-15: a friend who has deleted the user can get a new request
    // src/features/friendships/invitation.ts
    // - return mine?.status === FRIENDS && theirs?.status === FRIENDS;
    // + return mine?.status === FRIENDS;
    it('sends a new request to a friend who has deleted the user', async () => {
      await befriend();
      expectDone(await end(bob, ann));
      expectAction(await invite(ann, bob, 'Still there?'), 'Sent');
      expect(await statuses()).toEqual([10, 11]);
      expect(await all(bob)).toMatchObject([{ message: 'Still there?' }]);
      expectRefusal(await profileFor(ann, bob), 404, 'not your friend');
      expectDone(await agree(bob, ann));
      expect(await statuses()).toEqual([20, 20]);
    });

    it('does nothing when a friend has deleted and blacklisted the user', async () => {
      await befriend();
      expectDone(await end(bob, ann));
      expectDone(await blacklist(bob, ann));
      const before = await allRows();
      expectAction(await invite(ann, bob), 'None');
      expect(await allRows()).toEqual(before);
    });

    // guard friendships-16: a request that was withdrawn has to wait like an open one
    // src/features/friendships/invitation.ts
    // - return status === REQUESTING || (status === DELETED && isUnanswered);
    // + return status === REQUESTING || (status === DELETED && isUnanswered && false);
    it('also waits after a request that the sender withdrew or the receiver deleted', async () => {
      expectAction(await invite(ann, bob), 'Sent');
      expectDone(await withdraw(ann, bob));
      expectAction(await invite(ann, bob), 'None');
      await earlier(REQUEST_WAITS);
      expectAction(await invite(ann, bob), 'Sent');
      expectDone(await end(bob, ann));
      expectAction(await invite(ann, bob), 'None');
      await earlier(REQUEST_WAITS);
      expectAction(await invite(ann, bob), 'Sent');
    });

    // guard friendships-17: a request that was ignored before it was withdrawn waits for a day
    // src/features/friendships/invitation.ts
    // - theirs.answeredSecondsAgo < AFTER_IGNORED_SECONDS;
    // + theirs.answeredSecondsAgo < 0;
    it('waits a day after a request was ignored, even if it was deleted or withdrawn after that', async () => {
      expectAction(await invite(ann, bob), 'Sent');
      await earlier(REQUEST_WAITS);
      expectDone(await ignore(bob, ann));
      expectDone(await end(bob, ann));
      expectAction(await invite(ann, bob), 'None');
      expectDone(await withdraw(ann, bob));
      expectAction(await invite(ann, bob), 'None');
      await earlier(IGNORED_WAITS);
      expectAction(await invite(ann, bob), 'Sent');
    });

    // guard friendships-18: a user whose received request is gone may send one at once
    // migrations/0020_circles.up.sql
    // - NEW.answered_at := coalesce(NEW.requested_at, NEW.updated_at);
    it('sends a request at once to a user who withdrew one', async () => {
      expectAction(await invite(ann, bob), 'Sent');
      expectDone(await end(bob, ann));
      expectDone(await withdraw(ann, bob));
      expectAction(await invite(bob, ann), 'Sent');
      expect(await statuses()).toEqual([11, 10]);
    });

    it('adds a user whose request the caller has deleted before', async () => {
      expectAction(await invite(ann, bob), 'Sent');
      expectDone(await end(bob, ann));
      expectAction(await invite(bob, ann), 'Added');
      expect(await statuses()).toEqual([20, 20]);
    });

    it("sends a request to a user on the sender's own blacklist", async () => {
      expectDone(await blacklist(ann, bob));
      expectAction(await invite(ann, bob), 'Sent');
    });

    it("refuses the user's own id, an unknown id, and a closed account", async () => {
      expectRefusal(await invite(ann, ann), 400, 'yourself');
      expectRefusal(await invite(ann, { id: NOBODY }), 400, 'no such user');
      await app.db('users').where({ id: bob.id }).update({ closed_at: new Date() });
      expectRefusal(await invite(ann, bob), 400, 'no such user');
      expect(await allRows()).toEqual([]);
    });
  });

  describe('POST /friendship/agree', () => {
    it('makes both friends, and removes the message', async () => {
      expectAction(await invite(ann, bob, 'Hello'), 'Sent');
      expectDone(await agree(bob, ann));
      expect(await statuses()).toEqual([20, 20]);
      expect(await all(bob)).toMatchObject([{ message: '', status: 20 }]);
    });

    // guard friendships-27: a request from a user who has since blacklisted the receiver cannot be agreed to
    // src/features/friendships/invitation.ts
    // - return isOpen && !isBlacklisted && isOpenToFriends;
    // + return isOpen && (!isBlacklisted || true) && isOpenToFriends;
    it('answers 404 when the sender has blacklisted the user since', async () => {
      expectAction(await invite(ann, bob), 'Sent');
      expectDone(await blacklist(ann, bob));
      expectRefusal(await agree(bob, ann), 404, 'pending');
      expect(await statuses()).toEqual([10, 11]);
    });

    // guard friendships-25: agreeing without a request does not lock the other user
    // src/features/friendships/friendships-service.ts
    // - if (status !== REQUESTED && status !== IGNORED) throw nothingRequested();
    // + void [REQUESTED, IGNORED, status];
    it('does not lock a user who has sent no request', async () => {
      await whileHeld(app, LOCK_USER, [bob.id], [], async () => expectRefusal(await agree(ann, bob), 404, 'pending'));
    });

    // guard friendships-26: agreeing again does not lock the friend
    // src/features/friendships/friendships-service.ts
    // - if (status === FRIENDS) return;
    it('does not lock the friend when it is repeated', async () => {
      await befriend();
      await whileHeld(app, LOCK_USER, [bob.id], [], async () => expectDone(await agree(ann, bob)));
    });

    it('changes nothing when it is repeated', async () => {
      await befriend();
      const before = await allRows();
      expectDone(await agree(bob, ann));
      expectDone(await agree(ann, bob));
      expect(await allRows()).toEqual(before);
    });

    it('accepts an ignored request', async () => {
      expectAction(await invite(ann, bob), 'Sent');
      expectDone(await ignore(bob, ann));
      expectDone(await agree(bob, ann));
      expect(await statuses()).toEqual([20, 20]);
    });

    // guard friendships-24: only the receiver of a request can agree to it
    // src/features/friendships/friendships-service.ts
    // - if (!open.includes(two.friendId) || !isAsked(relation))
    // + if (!open.includes(two.friendId))
    // src/features/friendships/friendships-service.ts
    // - if (status !== REQUESTED && status !== IGNORED) throw nothingRequested();
    // + void [REQUESTED, IGNORED, status];
    it('answers 404 without a pending request, also to the sender of one', async () => {
      expectRefusal(await agree(ann, bob), 404, 'pending');
      expectRefusal(await agree(ann, ann), 404, 'pending');
      expectRefusal(await agree(ann, { id: NOBODY }), 404, 'pending');
      expectAction(await invite(ann, bob), 'Sent');
      expectRefusal(await agree(ann, bob), 404, 'pending');
      expect(await statuses()).toEqual([10, 11]);
    });

    // guard friendships-33: a request from a closed account cannot be agreed to
    // src/features/friendships/friendships-service.ts
    // - if (!open.includes(two.friendId) || !isAsked(relation))
    // + if (!isAsked(relation))
    it('answers 404 when the sender has taken the request back or closed the account', async () => {
      expectAction(await invite(ann, bob), 'Sent');
      await app.db('users').where({ id: ann.id }).update({ closed_at: new Date() });
      expectRefusal(await agree(bob, ann), 404, 'pending');
      await app.db('users').where({ id: ann.id }).update({ closed_at: null });
      await app.db('friendships').where({ user_id: ann.id }).delete();
      expectRefusal(await agree(bob, ann), 404, 'pending');
      expect(await statuses()).toEqual([30, 11]);
    });
  });

  describe('POST /friendship/ignore', () => {
    // guard friendships-12: an ignored request stays open on the sender's side
    // src/features/friendships/friendships-repository.ts
    // - this.side(two, REQUESTED).update({ status: IGNORED })
    // + this.db('friendships').whereIn('user_id', [two.userId, two.friendId]).whereIn('friend_id', [two.userId, two.friendId]).update({ status: IGNORED })
    // guard friendships-36: the message of a request is removed when it is answered
    // migrations/0020_circles.up.sql
    // - IF NEW.status <> 11 THEN
    // + IF false THEN
    it("ignores on the user's own side only, and the sender does not notice", async () => {
      const client = await settledClient(ann);
      expectAction(await invite(ann, bob, 'Hello'), 'Sent');
      await client.sync();
      const [listed, state] = [await all(ann), client.state()];
      expectDone(await ignore(bob, ann));
      expect(await all(ann)).toEqual(listed);
      await client.sync();
      expect(client.state()).toEqual(state);
      expect(await statuses()).toEqual([10, 21]);
      expect(await all(bob)).toMatchObject([{ message: '', status: 21 }]);
    });

    // guard friendships-40: a page of the sender is not told that the request was ignored
    // src/features/sync/live-syncs.ts
    // - if (isOfGroup && other !== '') this.change(ofUser(other));
    // + if (other !== '') this.change(ofUser(other));
    it('tells nothing to an open page of the sender', async () => {
      expectAction(await invite(ann, bob), 'Sent');
      await expectUntold(async () => expectDone(await ignore(bob, ann)));
    });

    it('changes nothing when it is repeated', async () => {
      expectAction(await invite(ann, bob), 'Sent');
      expectDone(await ignore(bob, ann));
      const before = await allRows();
      expectDone(await ignore(bob, ann));
      expect(await allRows()).toEqual(before);
    });

    it('answers 404 without a pending request', async () => {
      expectRefusal(await ignore(bob, ann), 404, 'pending');
      expectAction(await invite(ann, bob), 'Sent');
      expectRefusal(await ignore(ann, bob), 404, 'pending');
      expectDone(await agree(bob, ann));
      expectRefusal(await ignore(bob, ann), 404, 'pending');
      expect(await statuses()).toEqual([20, 20]);
    });
  });

  describe('POST /friendship/delete', () => {
    it("ends only the user's own side", async () => {
      await befriend();
      expectDone(await end(ann, bob));
      expect(await statuses()).toEqual([30, 20]);
      expect(await all(ann)).toEqual([]);
      expect(await all(bob)).toMatchObject([{ status: 20, user: shown(ann) }]);
    });

    it('answers 404 to a user who is not a friend: never was, is not yet, or is no longer', async () => {
      expectRefusal(await end(ann, bob), 404, 'not your friend');
      expectAction(await invite(ann, bob), 'Sent');
      expectRefusal(await end(ann, bob), 404, 'not your friend');
      expectDone(await agree(bob, ann));
      expectDone(await end(ann, bob));
      expectRefusal(await end(ann, bob), 404, 'not your friend');
    });

    // guard friendships-23: a received request is deleted only on the receiver's side
    // src/features/friendships/friendships-repository.ts
    // - this.side(two, FRIENDS, REQUESTED, IGNORED)
    // + this.side(two, FRIENDS)
    it.each([
      ['open', async () => {}],
      ['ignored', async () => expectDone(await ignore(bob, ann))],
    ])('removes an %s request from the side of the receiver, and the sender does not notice', async (_what, answer) => {
      expectAction(await invite(ann, bob, 'Hello'), 'Sent');
      await answer();
      const client = await settledClient(ann);
      const [listed, state] = [await all(ann), client.state()];
      expectDone(await end(bob, ann));
      expect(await statuses()).toEqual([10, 30]);
      expect(await all(bob)).toEqual([]);
      expect(await all(ann)).toEqual(listed);
      await client.sync();
      expect(client.state()).toEqual(state);
      expectRefusal(await agree(bob, ann), 404, 'pending');
      expectRefusal(await end(bob, ann), 404, 'not your friend');
    });

    // guard friendships-41: a page of the sender is not told that the request was deleted
    // src/features/sync/live-syncs.ts
    // - if (isOfGroup && other !== '') this.change(ofUser(other));
    // + if (other !== '') this.change(ofUser(other));
    it('tells nothing to an open page of the sender of a request', async () => {
      expectAction(await invite(ann, bob), 'Sent');
      await expectUntold(async () => expectDone(await end(bob, ann)));
    });
  });

  describe('POST /friendship/withdraw', () => {
    // guard friendships-19: a request is withdrawn on both sides
    // src/features/friendships/friendships-repository.ts
    // - this.side(turned(two), REQUESTED, IGNORED)
    // + this.side(turned(two), 0)
    it.each([
      ['open', 11, async () => {}],
      ['ignored', 21, async () => expectDone(await ignore(bob, ann))],
      ['deleted', 30, async () => expectDone(await end(bob, ann))],
    ])(
      'ends a request on both sides when it is %s on the other, which sync tells both',
      async (_what, status, answer) => {
        expectAction(await invite(ann, bob, 'Hello'), 'Sent');
        await answer();
        expect(await statuses()).toEqual([10, status]);
        const clients = [await settledClient(ann), await settledClient(bob)];
        expectDone(await withdraw(ann, bob));
        expect(await statuses()).toEqual([30, 30]);
        for (const [index, client] of clients.entries()) {
          await client.sync();
          expect(client.state().friends).toEqual([]);
          expect(await all([ann, bob][index] ?? ann)).toEqual([]);
        }
        expectRefusal(await agree(bob, ann), 404, 'pending');
      },
    );

    it('answers 404 without an open request of the user: never sent, sent by the other, accepted, or ended', async () => {
      expectRefusal(await withdraw(ann, bob), 404, 'pending', 'nothing_requested');
      expectRefusal(await withdraw(ann, { id: NOBODY }), 404, 'pending', 'nothing_requested');
      expectAction(await invite(ann, bob), 'Sent');
      expectRefusal(await withdraw(bob, ann), 404, 'pending', 'nothing_requested');
      expectDone(await agree(bob, ann));
      expectRefusal(await withdraw(ann, bob), 404, 'pending', 'nothing_requested');
      expect(await statuses()).toEqual([20, 20]);
    });

    // guard friendships-20: only the sender of a request can withdraw it
    // src/features/friendships/friendships-service.ts
    // - if ((await friendships.ownStatus(two)) !== REQUESTING) throw nothingRequested();
    it('does not lock a user who got no request', async () => {
      await whileHeld(app, LOCK_USER, [bob.id], [], async () =>
        expectRefusal(await withdraw(ann, bob), 404, 'pending', 'nothing_requested'),
      );
    });
  });

  describe('an unanswered request', () => {
    // guard friendships-21: an unanswered request expires
    // src/features/friendships/build-friendships.ts
    // - { name: 'requests', run: () => friendships.sweep() }
    it('ends on both sides after 30 days, also when ignored or deleted, which sync tells', async () => {
      const [cat, dan] = await insertAndSignInAll(app, 'Cat', 'Dan');
      for (const one of [bob, cat, dan]) expectAction(await invite(ann, one), 'Sent');
      expectDone(await ignore(cat, ann));
      expectDone(await end(dan, ann));
      const clients = [await settledClient(ann), await settledClient(bob), await settledClient(cat)];
      await earlierForAll(REQUEST_ENDS - 60);
      await app.sweep();
      expect(await statusesOf(ann)).toEqual([10, 10, 10]);
      await earlierForAll(60);
      await app.sweep();
      expect(await statusesOf(ann)).toEqual([30, 30, 30]);
      for (const one of [bob, cat, dan]) expect(await statusesOf(one)).toEqual([30]);
      for (const client of clients) {
        await client.sync();
        expect(client.state().friends).toEqual([]);
      }
      expectRefusal(await agree(bob, ann), 404, 'pending');
      expectAction(await invite(ann, bob), 'Sent');
    });

    it('lives for 30 days from the day on which it was last sent', async () => {
      expectAction(await invite(ann, bob), 'Sent');
      await earlier(REQUEST_WAITS);
      expectAction(await invite(ann, bob), 'Sent');
      await earlier(REQUEST_ENDS - REQUEST_WAITS);
      await app.sweep();
      expect(await statuses()).toEqual([10, 11]);
    });

    it('also ends when another service has written only one side', async () => {
      await app.db('friendships').insert({ user_id: bob.id, friend_id: ann.id, status: 11 });
      await earlier(REQUEST_ENDS);
      await app.sweep();
      expect(await statuses()).toEqual([undefined, 30]);
    });

    // guard friendships-22: a request that is answered while it expires stays answered
    // src/features/friendships/friendships-repository.ts
    // - WHERE ${IS_OVERDUE}),
    // + ),
    // src/features/friendships/friendships-repository.ts
    // - AND status IN (${REQUESTING}, ${REQUESTED}, ${IGNORED})
    it('does not end when it is accepted at the same time', async () => {
      expectAction(await invite(ann, bob), 'Sent');
      await earlier(REQUEST_ENDS);
      const [agreed] = await whileHeld(app, LOCK_FRIENDS, [ann.id], [() => agree(bob, ann), () => app.sweep()]);
      expectDone(agreed);
      expect(await statuses()).toEqual([20, 20]);
    });

    it('ends together with more than a batch of others, and friendships stay', async () => {
      await befriend();
      await app.db.raw(
        `INSERT INTO friendships (user_id, friend_id, status) SELECT ?, 'waiting' || n, 10 FROM generate_series(1, 250) n`,
        [ann.id],
      );
      await earlier(REQUEST_ENDS);
      await app.sweep();
      expect(
        await app.db('friendships').where({ user_id: ann.id }).whereNot({ status: 30 }).pluck('friend_id'),
      ).toEqual([bob.id]);
    });
  });

  describe('POST /friendship/set_display_name', () => {
    const rename = (me: SignedInPerson, other: Named, displayName: unknown) =>
      call(me, 'set_display_name', { friendId: other.id, displayName });

    it('sets a name that only the user who gave it sees, also by sync', async () => {
      await befriend();
      expectDone(await rename(ann, bob, 'Bobby <3'));
      expect(await all(ann)).toMatchObject([{ displayName: 'Bobby <3' }]);
      expect((await sync(ann)).friends).toMatchObject([{ friendId: bob.id, displayName: 'Bobby <3', status: 20 }]);
      expect(await all(bob)).toMatchObject([{ displayName: '' }]);
      expectDone(await rename(ann, bob, ''));
      expect(await all(ann)).toMatchObject([{ displayName: '' }]);
    });

    it.each<[string, unknown, number]>([
      ['32 characters', OF_MANY_BYTES.repeat(8), 200],
      ['33 characters', `${OF_MANY_BYTES.repeat(8)}x`, 400],
      ['none', undefined, 400],
      ...NOT_PLAIN.map((text): [string, string, number] => [JSON.stringify(text), text, 400]),
    ])('takes or refuses a name of %s: %#', async (_what, displayName, status) => {
      await befriend();
      const answer = await rename(ann, bob, displayName);
      if (status === 400) expectRefusal(answer, 400, 'displayName');
      else expectDone(answer);
    });

    it('answers 404 for a user who is not a friend', async () => {
      expectRefusal(await rename(ann, bob, 'Bobby'), 404, 'not your friend');
      expectAction(await invite(ann, bob), 'Sent');
      expectRefusal(await rename(ann, bob, 'Bobby'), 404, 'not your friend');
      expectRefusal(await rename(bob, ann, 'Annie'), 404, 'not your friend');
    });
  });

  describe('POST /friendship/all', () => {
    it('lists friends and requests, the latest change first, without ended ones', async () => {
      const [cat, dan] = await insertAndSignInAll(app, 'Cat', 'Dan');
      await app.db('users').where({ id: cat.id }).update({ portrait_uri: 'https://a.b/c.png' });
      await befriend(ann, bob);
      await befriend(ann, dan);
      expectDone(await end(ann, dan));
      expectAction(await invite(cat, ann, 'Hello'), 'Sent');
      const updatedAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
      expect(await all(ann)).toEqual([
        {
          displayName: '',
          message: 'Hello',
          status: 11,
          updatedAt,
          user: { id: cat.id, nickname: 'Cat', portraitUri: 'https://a.b/c.png' },
        },
        { displayName: '', message: '', status: 20, updatedAt, user: shown(bob) },
      ]);
    });

    // guard friendships-38: friends are listed in pages
    // src/database/pages.ts
    // - const PAGE = 500;
    // + const PAGE = 1e6;
    it('returns many entries completely and in order, reading them in pages', async () => {
      await app.db.raw(
        `INSERT INTO friendships (user_id, friend_id, status, updated_at)
           SELECT ?, 'many' || n, CASE n % 3 WHEN 0 THEN 30 ELSE 20 END, now() - n % 300 * interval '1 microsecond'
             FROM generate_series(1, 1501) n`,
        [ann.id],
      );
      const rows: number[] = [];
      const note = (response: unknown, { sql }: { sql: string }) => {
        if (sql.includes('FROM friendships')) rows.push((response as { rows: unknown[] }).rows.length);
      };
      app.serviceDb.on('query-response', note);
      const listed = await all(ann);
      app.serviceDb.off('query-response', note);
      expect(rows).toEqual([500, 500, 1]);
      const kept = await app
        .db('friendships')
        .where({ user_id: ann.id, status: 20 })
        .orderBy([{ column: 'updated_at', order: 'desc' }, 'friend_id'])
        .pluck<string[]>('friend_id');
      expect(listed.map(({ user }) => (user as Named).id)).toEqual(kept);
      expect(listed[0]).toMatchObject({ user: { nickname: '', portraitUri: '' } });
    });
  });

  describe('POST /friendship/:friendId/profile', () => {
    it('shows a friend and the name that the user has given them', async () => {
      await befriend();
      expectDone(await call(ann, 'set_display_name', { friendId: bob.id, displayName: 'Bobby' }));
      expectBody(await post(ann.agent, `/friendship/${bob.id}/profile`), {
        code: 200,
        result: { displayName: 'Bobby', user: shown(bob) },
      });
      expectBody(await profileFor(bob, ann), { code: 200, result: { displayName: '', user: shown(ann) } });
    });

    it('answers 404 for a user who is not a friend', async () => {
      for (const other of [bob, ann, { id: NOBODY }, { id: 'invite' }])
        expectRefusal(await profileFor(ann, other), 404, 'not your friend');
      expectAction(await invite(ann, bob), 'Sent');
      expectRefusal(await profileFor(ann, bob), 404, 'not your friend');
      expectRefusal(await profileFor(bob, ann), 404, 'not your friend');
      expectDone(await agree(bob, ann));
      expectDone(await end(ann, bob));
      expectRefusal(await profileFor(ann, bob), 404, 'not your friend');
    });

    // guard friendships-37: no user id equals a fixed word under /friendship
    // migrations/0016_friendships.up.sql
    // - 'set_display_name', 'all'
    // + 'all'
    it('shares its path with fixed words, and no user id can equal one in any case', async () => {
      const words = fixedWords(OPERATIONS, 'friendship');
      expect(words.sort()).toEqual(['agree', 'all', 'delete', 'ignore', 'invite', 'set_display_name', 'withdraw']);
      for (const id of [...words, ...words.map((word) => word.toUpperCase())])
        await expect(app.db('users').insert({ id, nickname: 'x' })).rejects.toThrow(
          /users_id_no_path_(friendship|withdraw)/,
        );
    });
  });

  describe('concurrent friendship operations', () => {
    /** Lets all calls come as far as they can before one is done. */
    const atOnce = (calls: (() => Promise<Answer>)[]) =>
      whileHeld(app, 'SELECT FROM users WHERE id IN (?, ?) FOR UPDATE', [ann.id, bob.id], calls);

    const actionIn = ({ body }: Answer) => (body as { result?: { action?: string } }).result?.action;

    // guard friendships-1: the second of two users who invite each other sees the first invitation
    // src/features/users/lock-open-users.ts
    // - closed_at IS NULL ORDER BY id FOR NO KEY UPDATE
    // + closed_at IS NULL ORDER BY id
    // src/features/friendships/friendships-repository.ts
    // - WHERE :wasSeen::boolean
    // + WHERE :wasSeen::boolean OR true
    it('make two users friends who invite each other', async () => {
      const answers = await atOnce([() => invite(ann, bob), () => invite(bob, ann)]);
      expect(answers.map(actionIn).sort()).toEqual(['Added', 'Sent']);
      expect(await statuses()).toEqual([20, 20]);
    });

    it('end with two friends after repeated mutual invitations, and their clients show it', async () => {
      const clients = [foldingClientOf(ann), foldingClientOf(bob)];
      for (let round = 0; round < 5; round += 1) {
        const answers = await Promise.all([invite(ann, bob), invite(bob, ann), ...clients.map((one) => one.sync())]);
        expect(
          answers
            .slice(0, 2)
            .map((answer) => actionIn(answer as Answer))
            .sort(),
        ).toEqual(['Added', 'Sent']);
        expect(await statuses()).toEqual([20, 20]);
        await Promise.all([end(ann, bob), end(bob, ann), ...clients.map((one) => one.sync())]);
        expect(await statuses()).toEqual([30, 30]);
      }
      await Promise.all([invite(ann, bob), ...clients.map((one) => one.sync())]);
      for (const [index, me] of [ann, bob].entries()) {
        await clients[index]?.sync();
        expect(clients[index]?.state()).toEqual(await fullState(me));
      }
    });

    it('send one request when a user invites twice at once', async () => {
      const answers = await atOnce([() => invite(ann, bob), () => invite(ann, bob)]);
      expect(answers.map(actionIn).sort()).toEqual(['None', 'Sent']);
      expect(await statuses()).toEqual([10, 11]);
    });

    // guard friendships-2: an invitation waits for a concurrent blacklisting by the other user
    // src/features/users/lock-open-users.ts
    // - closed_at IS NULL ORDER BY id FOR NO KEY UPDATE
    // + closed_at IS NULL ORDER BY id
    it('send no request to a user who blacklists the sender at the same time', async () => {
      const blacklisting = async (trx: Knex) => {
        await trx('users').where({ id: bob.id }).forNoKeyUpdate();
        await trx('blacklist').insert({ user_id: bob.id, friend_id: ann.id });
      };
      expectAction(await whileOpen(app, blacklisting, () => invite(ann, bob)), 'None');
      expect(await allRows()).toEqual([]);
    });

    // guard friendships-3: an invitation waits for a concurrent closing of the other account
    // src/features/users/lock-open-users.ts
    // - closed_at IS NULL ORDER BY id FOR NO KEY UPDATE
    // + closed_at IS NULL ORDER BY id
    // migrations/0017_account.up.sql
    // - RETURN CASE WHEN is_any_closed(NEW.user_id, NEW.friend_id) THEN NULL ELSE NEW END;
    // + RETURN NEW;
    it('send no request to an account that closes at the same time', async () => {
      const answer = await whileHeld(app, 'UPDATE users SET closed_at = now() WHERE id = ?', [bob.id], () =>
        invite(ann, bob),
      );
      expectRefusal(answer, 400, 'no such user');
      expect(await allRows()).toEqual([]);
    });

    // guard friendships-4: an invitation does not overwrite a side that it has not seen
    // src/features/friendships/friendships-repository.ts
    // - WHERE :wasSeen::boolean
    // + WHERE :wasSeen::boolean OR true
    // migrations/0017_account.up.sql
    // - ORDER BY id FOR SHARE
    // + ORDER BY id
    // guard friendships-5: an invitation that is overtaken is decided again
    // src/features/friendships/friendships-repository.ts
    // - if (saved.length === 0)
    // + if (saved.length < 0)
    // migrations/0017_account.up.sql
    // - ORDER BY id FOR SHARE
    // + ORDER BY id
    it('leave a friendship as it is that another service makes during an invitation', async () => {
      const answer = await whileHeld(
        app,
        'INSERT INTO friendships (user_id, friend_id, status) VALUES (?, ?, 20), (?, ?, 20)',
        [ann.id, bob.id, bob.id, ann.id],
        () => invite(ann, bob),
      );
      expectRefusal(answer, 400, 'already');
      expect(await statuses()).toEqual([20, 20]);
    });

    // guard friendships-6: both sides are locked while an invitation is decided
    // src/features/friendships/friendships-repository.ts
    // - FROM friendships WHERE user_id = :userId AND friend_id = :friendId FOR NO KEY UPDATE
    // + FROM friendships WHERE user_id = :userId AND friend_id = :friendId
    it('do not undo a deletion that another service writes during an agreement', async () => {
      expectAction(await invite(ann, bob), 'Sent');
      const answer = await whileHeld(app, 'DELETE FROM friendships WHERE user_id = ?', [ann.id], () => agree(bob, ann));
      expectRefusal(answer, 404, 'pending');
      expect(await statuses()).toEqual([30, 11]);
    });

    it('end an agree and an ignore of the same request as one of them', async () => {
      expectAction(await invite(ann, bob), 'Sent');
      const calls = [() => agree(bob, ann), () => ignore(bob, ann)] as const;
      // A request that is ignored first can still be agreed to.
      const [agreed, ignored] = await whileHeld(app, LOCK_FRIENDS, [bob.id], calls);
      expect(agreed.status).toBe(200);
      expect([200, 404]).toContain(ignored.status);
      expect(await statuses()).toEqual([20, 20]);
    });

    it('leave whole rows, without a deadlock, after a deletion by one side and an invitation by the other', async () => {
      await befriend();
      expectDone(await end(ann, bob));
      const calls = [() => invite(ann, bob), () => end(bob, ann)] as const;
      const [invited, ended] = await whileHeld(app, LOCK_FRIENDS, [bob.id], calls);
      expectDone(ended);
      expect(await statuses()).toEqual(actionIn(invited) === 'Added' ? [20, 30] : [10, 11]);
    });

    // guard friendships-7: a statement outside of a transaction is retried after a deadlock
    // src/database/pool.ts
    // - this.transacting ? ask() : retrying(ask)
    // + ask()
    itOnOneServer('are retried when PostgreSQL aborts them as a deadlock', async () => {
      await withFailures(app, async (nextOn) => {
        await nextOn('friendships');
        expectAction(await invite(ann, bob), 'Sent');
        await nextOn('friendships');
        expectDone(await ignore(bob, ann));
        await nextOn('friendships');
        expectDone(await agree(bob, ann));
        await nextOn('friendships');
        expectDone(await call(ann, 'set_display_name', { friendId: bob.id, displayName: 'Bobby' }));
        await nextOn('friendships');
        expectDone(await end(ann, bob));
        await nextOn('friendships');
        expectDone(await end(bob, ann));
        expectAction(await invite(ann, bob), 'Sent');
        await nextOn('friendships');
        expectDone(await withdraw(ann, bob));
      });
      expect(await statuses()).toEqual([30, 30]);
    });

    it('end an agree and a withdraw of the same request as one of them', async () => {
      expectAction(await invite(ann, bob), 'Sent');
      const [agreed, withdrawn] = await atOnce([() => agree(bob, ann), () => withdraw(ann, bob)]);
      expect([agreed?.status, withdrawn?.status].sort()).toEqual([200, 404]);
      expect(await statuses()).toEqual(agreed?.status === 200 ? [20, 20] : [30, 30]);
    });
  });

  describe('friendships on two instances', () => {
    const instance = instancesBeside(() => app, { FRIEND_REQUESTS_PER_USER_DAY: '0' });
    const TOGETHER = ['10 11', '10 21', '10 30', '20 20', '20 30', '30 30'];

    it('have matching sides, and clients show them, after four users acted at random', async () => {
      const [here, there] = [await instance(), await instance()];
      const people = await Promise.all([here, there, here, there].map((one) => insertAndSignIn(one)));
      const clients = people.map((person) => foldingClientOf(person));
      const one = () => people[randomInt(people.length)] ?? ann;
      const something = (): Ask =>
        [invite, invite, invite, agree, agree, ignore, withdraw, end][randomInt(8)] ?? invite;
      const act = async (me: SignedInPerson): Promise<Answer[]> => {
        const answers: Answer[] = [];
        while (answers.length < amount(60)) answers.push(await something()(me, one()));
        return answers;
      };
      let isGoing = true;
      const reading = clients.map(async (client) => {
        while (isGoing) await client.sync();
      });
      const answers = await Promise.all([...people, ...people].map(act));
      isGoing = false;
      await Promise.all(reading);
      // A machine that is busy with something else may refuse some for now.
      const { 503: _refused, ...answered } = countCodes(answers.flat());
      expect(Object.keys(answered).sort()).toEqual(['200', '400', '404']);

      for (const [index, client] of clients.entries()) {
        await client.sync();
        expect(client.state()).toEqual(await fullState(people[index] ?? ann));
      }
      const ids = people.map(({ id }) => id);
      const sides = await app.db('friendships').whereIn('user_id', ids).select<(Side & { status: number })[]>();
      expect(sides.length).toBeGreaterThan(0);
      for (const { user_id, friend_id, status } of sides) {
        const theirs = sides.find((other) => other.user_id === friend_id && other.friend_id === user_id);
        expect(TOGETHER).toContain([status, theirs?.status].sort().join(' '));
      }
    });
  });

  const fullInstance = instancesBeside(() => app, { FRIENDS_PER_USER: '2' });

  describe('with FRIENDS_PER_USER', () => {
    const instance = instancesBeside(() => app, { FRIENDS_PER_USER: '2' });

    // guard friendships-28: agreeing does not give a user more friends than allowed
    // src/features/friendships/friendships-service.ts
    // - if (!relation.hasRoom) throw this.tooManyFriends();
    // guard friendships-29: inviting does not give a user more friends and requests than allowed
    // src/features/friendships/friendships-service.ts
    // - if (!hasRoomToInvite(relation)) throw this.tooManyFriends();
    // + void hasRoomToInvite;
    it('answers 400 when a user would have one friend too many, whichever friend, also to agree and to concurrent calls', async () => {
      const me = await insertAndSignIn(await instance());
      const [cat, dan] = await insertAndSignInAll(app, 'Cat', 'Dan');
      await befriend(me, cat);
      for (const one of [ann, bob]) expectAction(await invite(one, me), 'Sent');
      const answers = await Promise.all([agree(me, ann), agree(me, bob)]);
      expect(countCodes(answers)).toEqual({ 200: 1, 400: 1 });
      expectRefusal(answers.find(({ status }) => status === 400) ?? answers[0], 400, '2 friends', 'too_many_friends');
      for (const one of [ann, bob]) expectDone(await blacklist(one, me));
      expectDone(await blacklist(dan, me));
      const [other] = answers[0].status === 400 ? [ann] : [bob];
      // The answer does not depend on the other side.
      for (const one of [other, dan, await insertPerson(app)])
        expectRefusal(await invite(me, one), 400, '2 friends', 'too_many_friends');
      expectDone(await end(me, cat));
      const [first, second, third] = [await insertPerson(app), await insertPerson(app), await insertPerson(app)];
      expectAction(await invite(me, first), 'Sent');
      expectRefusal(await invite(me, second), 400, '2 friends', 'too_many_friends');
      // A request counts until it is withdrawn, or ends by itself.
      expectDone(await withdraw(me, first));
      expectAction(await invite(me, second), 'Sent');
      expectRefusal(await invite(me, third), 400, '2 friends', 'too_many_friends');
      await earlierForAll(REQUEST_ENDS);
      await app.sweep();
      expectAction(await invite(me, third), 'Sent');
    });

    // guard friendships-30: an invitation does not add a user who has the maximum of friends
    // src/features/friendships/invitation.ts
    // - return isOpenToFriends ? 'Added' : 'None';
    // + return isOpenToFriends || true ? 'Added' : 'None';
    // guard friendships-31: a request from a user who has the maximum of friends cannot be agreed to
    // src/features/friendships/invitation.ts
    // - return isOpen && !isBlacklisted && isOpenToFriends;
    // + return isOpen && !isBlacklisted && (isOpenToFriends || true);
    it('sends a request again, and adds a user who sent one only if that user has room too', async () => {
      const me = await insertAndSignIn(await instance());
      const cat = await insertAndSignIn(app, 'Cat');
      for (const one of [ann, bob]) expectAction(await invite(me, one), 'Sent');
      await earlier(REQUEST_WAITS);
      await app
        .db('friendships')
        .where({ user_id: me.id })
        .update({ requested_at: new Date(0) });
      await app
        .db('friendships')
        .where({ friend_id: me.id })
        .update({ requested_at: new Date(0) });
      expectAction(await invite(me, ann), 'Sent');
      expectAction(await invite(cat, me), 'Sent');
      for (const one of [ann, bob])
        await app.db('friendships').insert({ user_id: cat.id, friend_id: one.id, status: 20 });
      await app.db('friendships').where({ user_id: me.id, friend_id: ann.id }).update({ status: 30 });
      expectAction(await invite(me, cat), 'None');
      expectRefusal(await agree(me, cat), 404, 'pending');
      await app.db('friendships').where({ user_id: cat.id, friend_id: bob.id }).update({ status: 30 });
      expectAction(await invite(me, cat), 'Added');
    });
  });

  it('with FRIENDS_PER_USER, invites a friend who has deleted the user again, even without room for another', async () => {
    const me = await insertAndSignIn(app);
    for (const one of [ann, bob]) await befriend(me, one);
    const full = await signIn(await fullInstance(), me);
    expectRefusal(await invite(full, await insertPerson(app)), 400, '2 friends', 'too_many_friends');
    expectDone(await end(ann, me));
    expectAction(await invite(full, ann), 'Sent');
  });

  describe('with OPEN_REQUESTS_PER_USER', () => {
    const instance = instancesBeside(() => app, { OPEN_REQUESTS_PER_USER: '1' });

    // guard friendships-32: a user with the maximum of open requests gets no more
    // src/features/friendships/invitation.ts
    // - if (!isOpenToRequests) return 'None';
    // + void isOpenToRequests;
    it('sends nothing to a user with that many open requests, and answers as for a blacklisted sender', async () => {
      const there = await instance();
      const [me, other] = await insertAndSignInAll(there, 'Me', 'Other');
      expectAction(await invite(other, bob), 'Sent');
      const before = await allRows();
      expectAction(await invite(me, bob), 'None');
      expect(await allRows()).toEqual(before);
      await app
        .db('friendships')
        .where({ user_id: bob.id })
        .update({ requested_at: new Date(0) });
      expectAction(await invite(other, bob), 'Sent');
      expectDone(await ignore(bob, other));
      expectAction(await invite(me, bob), 'Sent');
    });
  });

  describe('with FRIEND_REQUESTS_PER_USER_DAY', () => {
    const instance = instancesBeside(() => app, { FRIEND_REQUESTS_PER_USER_DAY: '3' });

    // guard friendships-8: invitations are limited per user and day
    // src/features/friendships/friendships-router.ts
    // - limits: ['friendRequestsPerDay'],
    it('limits invitations per user across instances, and does not limit other users', async () => {
      const [here, there] = [await instance(), await instance()];
      const me = await insertAndSignIn(here);
      const elsewhere = await signIn(there, me);
      const people = Array.from({ length: 12 }, () => ({ id: newUserId(), nickname: 'Cat' }));
      await app.db('users').insert(people);
      const answers = await inParallel(12, (index) => invite(index % 2 === 0 ? me : elsewhere, people[index] ?? ann));
      expect(countCodes(answers)).toEqual({ 200: 3, 429: 9 });
      for (const refused of answers.filter(({ status }) => status === 429))
        expect(retryAfterOf(refused)).toBeGreaterThan(80_000);
      expect(await app.db('friendships').where({ user_id: me.id })).toHaveLength(3);
      expectAction(await invite(await insertAndSignIn(here), bob), 'Sent');
    });

    it('counts invitations that have no effect, but not malformed ones', async () => {
      const me = await insertAndSignIn(await instance());
      for (const friendId of ['', 'a/b']) expectRefusal(await invite(me, { id: friendId }), 400);
      expectDone(await blacklist(bob, me));
      expectAction(await invite(me, bob), 'None');
      expectRefusal(await invite(me, { id: NOBODY }), 400);
      expectAction(await invite(me, ann), 'Sent');
      expectRefusal(await invite(me, await insertPerson(app)), 429);
    });
  });
});
