import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { expectRefusal, post, retryAfterOf, inParallel } from '../../support/calls';
import type { SyncMember, SyncResult } from '../../support/folding-client';
import { expectOk, insertAndSignIn, type Person, type SignedInPerson } from '../../support/people';
import { stage } from '../../support/stage';
import { readBytes, cookieFor, openAnswer } from '../../support/streams';
import { pause, sync } from '../../support/sync';
import { until } from '../../support/until';

/** Portraits of 960 bytes that gzip cannot halve: far more than a socket holds, so that an unread answer stalls. */
const HASHES = 30;
const IN_LARGEST = 2_500;
/** A statement that reads pages or chunks of members, on one server or on several. */
const READS_MEMBERS = /LEFT JOIN LATERAL|^SELECT\s+m\.group_id AS "groupId", m\.member_id/;
/** Maximum rows that one statement reads. */
const CHUNK = 500;

interface Shown extends Pick<Person, 'id' | 'nickname'> {
  portraitUri: string;
}

describe('POST /user/sync/:version with a large answer', () => {
  // One connection for all requests: a request that kept it would block the others.
  const { app, ann } = stage({ env: { DATABASE_POOL_MAX: '1' }, people: 1, peopleOnce: true });
  let cookie: { Cookie: string };
  /** Rows that each statement on members has returned. */
  let reads: number[] = [];

  beforeAll(async () => {
    cookie = await cookieFor(app, ann);
    await insertCrowd();
    app.serviceDb.on('query-response', (response: unknown, { sql }: { sql: string }) => {
      if (READS_MEMBERS.test(sql)) reads.push((response as { rows: unknown[] }).rows.length);
    });
  });

  beforeEach(() => {
    reads = [];
  });

  it('returns in many chunks what one plain statement returns at once', async () => {
    const answer = await openAnswer(app, '/user/sync/0', cookie);
    expect(answer.headers).toMatchObject({ 'transfer-encoding': 'chunked' });
    const { result } = JSON.parse(await text(answer)) as { result: SyncResult };

    expect(result.groups).toHaveLength(31);
    expect(inOrder(result.group_members)).toEqual(inOrder(await allMembers()));
    expect(Math.max(...reads)).toBeLessThanOrEqual(CHUNK);
    expect(reads.length).toBeGreaterThan(7);
  });

  it('returns the same to a client that accepts gzip', async () => {
    const answer = await openAnswer(app, '/user/sync/0', { ...cookie, 'Accept-Encoding': 'gzip' });
    expect(answer.headers).toMatchObject({ 'content-encoding': 'gzip' });
    const { result } = JSON.parse(await text(answer.pipe(createGunzip()))) as { result: SyncResult };
    expect(inOrder(result.group_members)).toEqual(inOrder(await allMembers()));
  });

  it('returns large changes in chunks too, to a client that has everything else', async () => {
    const { version } = (
      JSON.parse(await text(await openAnswer(app, '/user/sync/0', cookie))) as { result: SyncResult }
    ).result;
    for (const rows of await others()) await rows.delete();
    reads = [];
    const { result } = JSON.parse(await text(await openAnswer(app, `/user/sync/${version}`, cookie))) as {
      result: SyncResult;
    };
    const gone = result.group_members.filter(({ groupId, isDeleted }) => groupId === 'largest' && isDeleted);
    expect(new Set(gone.map(({ memberId }) => memberId)).size).toBe(IN_LARGEST - 1);
    expect(Math.max(...reads)).toBeLessThanOrEqual(CHUNK);
    for (const rows of await others()) await rows.update({ is_deleted: false });
  });

  /** Members of the largest group except Ann, in parts: several servers need seconds for all of them. */
  async function others() {
    const members = () => app.db('group_members').where({ group_id: 'largest' }).andWhereNot({ member_id: ann.id });
    const ids = await members().pluck<string[]>('member_id');
    const parts = Array.from({ length: Math.ceil(ids.length / CHUNK) }, (_, index) => index * CHUNK);
    return parts.map((first) => members().whereIn('member_id', ids.slice(first, first + CHUNK)));
  }

  describe('for many friends', () => {
    const FRIENDS = 2 * CHUNK + 1;
    let cat: SignedInPerson;

    beforeAll(async () => {
      cat = await insertAndSignIn(app);
      await app.db.raw(
        `INSERT INTO friendships (user_id, friend_id, status)
           SELECT ?, 'crowd' || n, CASE WHEN n > 10 THEN 20 ELSE 30 END FROM generate_series(1, ?) n`,
        [cat.id, FRIENDS + 10],
      );
    });

    // guard sync-large-4: many friends are read in pages
    // src/features/sync/sync-relations.ts
    // - ${FRIENDSHIPS} AND version > :since ORDER BY user_id, version LIMIT ${CHUNK + 1}
    // + ${FRIENDSHIPS} AND version > :since ORDER BY user_id, version LIMIT ${CHUNK}
    it('reads them in pages, and returns all that have not ended', async () => {
      const pages: number[] = [];
      const note = (response: unknown, { sql }: { sql: string }) => {
        if (sql.includes('FROM friendships')) pages.push((response as { rows: unknown[] }).rows.length);
      };
      app.serviceDb.on('query-response', note);
      const { friends } = await sync(cat);
      app.serviceDb.off('query-response', note);
      expect(pages).toEqual([CHUNK, CHUNK, 1]);
      const kept = await app
        .db('friendships')
        .where({ user_id: cat.id, status: 20 })
        .orderBy('friend_id')
        .select('friend_id', 'status');
      expect(friends.map(({ friendId, status }) => ({ friend_id: friendId, status }))).toEqual(kept);
    });
  });

  describe('for a long blacklist', () => {
    const ENTRIES = 2 * CHUNK + 1;
    let bob: SignedInPerson;
    let pages: number[] = [];
    const note = (response: unknown, { sql }: { sql: string }) => {
      if (sql.includes('FROM blacklist')) pages.push((response as { rows: unknown[] }).rows.length);
    };

    beforeAll(async () => {
      bob = await insertAndSignIn(app);
      await app.db.raw(
        `INSERT INTO blacklist (user_id, friend_id, status)
           SELECT ?, 'crowd' || n, n > 10 FROM generate_series(1, ?) n`,
        [bob.id, ENTRIES + 10],
      );
      app.serviceDb.on('query-response', note);
    });

    afterAll(() => app.serviceDb.off('query-response', note));

    beforeEach(() => {
      pages = [];
    });

    // guard sync-large-2: sync reads a long blacklist in pages
    // src/features/sync/sync-repository.ts
    // - blacklist: blacklist.length <= few ? blacklist : undefined
    // + blacklist: blacklist
    it('reads it in pages, and returns all that has not ended', async () => {
      const { blacklist } = await sync(bob);
      expect(pages).toEqual([CHUNK, CHUNK, 1]);
      const kept = await app
        .db('blacklist')
        .where({ user_id: bob.id, status: true })
        .orderBy('friend_id')
        .select('friend_id', 'status');
      expect(blacklist.map(({ friendId, status }) => ({ friend_id: friendId, status }))).toEqual(kept);
    });

    it('reads no page when little has changed', async () => {
      let { version, blacklist: before } = await sync(bob);
      // Any open transaction in the cluster, even of another test, holds the version back.
      await until(async () => {
        ({ version, blacklist: before } = await sync(bob, version));
        return before.length === 0;
      });
      pages = [];
      await app.db('blacklist').where({ user_id: bob.id, friend_id: 'crowd2' }).update({ status: false });
      const { blacklist } = await sync(bob, version);
      expect(blacklist).toContainEqual(expect.objectContaining({ friendId: 'crowd2', status: false }));
      expect(pages).toEqual([]);
    });

    // guard sync-large-3: an answer with a long blacklist counts as large
    // src/features/sync/sync-service.ts
    // - blacklist && friends && !manyEnded && members ? chunks
    // + members ? chunks
    it('takes one of the two places for large answers', async () => {
      await app.db('group_members').insert({ group_id: 'largest', member_id: bob.id });
      const his = await cookieFor(app, bob);
      const slow = [await openAnswer(app, '/user/sync/0', his), await openAnswer(app, '/user/sync/0', his)];
      await untilUnread(2);
      await app.db('group_members').where({ member_id: bob.id }).delete();
      expectRefusal(await post(bob.agent, '/user/sync/0'), 429);
      for (const answer of slow) answer.destroy();
      await until(async () => (await post(bob.agent, '/user/sync/0')).status === 200);
    });
  });

  describe('for many groups that the user has left', () => {
    const LEFT = 2 * CHUNK + 1;
    let dan: SignedInPerson;
    const pages: number[] = [];
    const note = (response: unknown, { sql }: { sql: string }) => {
      if (sql.includes('(version, group_id) >')) pages.push((response as { rows: unknown[] }).rows.length);
    };

    beforeAll(async () => {
      dan = await insertAndSignIn(app);
      await app.db.raw(
        `INSERT INTO groups (id, name, creator_id) SELECT 'left' || n, 'G', 'x' FROM generate_series(1, ?) n`,
        [LEFT],
      );
      // In two transactions, so that rows of one version fill more than a page.
      for (const [from, to] of [
        [1, 900],
        [901, LEFT],
      ] as const)
        await app.db.raw(
          `INSERT INTO group_members (group_id, member_id, is_deleted)
             SELECT 'left' || n, ?, true FROM generate_series(?::integer, ?::integer) n`,
          [dan.id, from, to],
        );
      await app.db('group_members').insert({ group_id: 'large1', member_id: dan.id });
      app.serviceDb.on('query-response', note);
    });

    afterAll(async () => {
      app.serviceDb.off('query-response', note);
      await app.db('group_members').where({ member_id: dan.id }).delete();
    });

    // guard sync-large-5: many ended memberships are read in pages
    // src/features/sync/sync-groups.ts
    // - ORDER BY member_id, version LIMIT ${CHUNK + 1})`
    // + ORDER BY member_id, version LIMIT ${CHUNK})`
    it('reads ended memberships in pages, and returns each once', async () => {
      const { groups } = await sync(dan, 1);
      expect(pages).toEqual([CHUNK, CHUNK, 1]);
      const ended = groups.filter(({ isDeleted }) => isDeleted).map(({ group }) => group.id);
      expect(ended).toHaveLength(LEFT);
      expect(new Set(ended).size).toBe(LEFT);
      expect(groups.filter(({ isDeleted }) => !isDeleted).map(({ group }) => group.id)).toEqual(['large1']);
    });
  });

  it('is not delayed by 60 answers to one user: two of them run, and take turns with it', async () => {
    const bob = await insertAndSignIn(app);
    await insertGroupsOf(bob);
    const turns: string[] = [];
    const note = ({ sql, bindings }: { sql: string; bindings: unknown[] }) => {
      if (READS_MEMBERS.test(sql)) turns.push(JSON.stringify(bindings).includes('bobs') ? 'bob' : 'ann');
    };
    app.serviceDb.on('query', note);
    const attack = inParallel(60, async () =>
      readBytes(await openAnswer(app, '/user/sync/0', cookie)).then(String, String),
    );
    await until(() => turns.length > 0);
    const { group_members } = await sync(bob);
    app.serviceDb.off('query', note);
    const his = turns.slice(turns.indexOf('bob'), turns.lastIndexOf('bob') + 1);
    expect(his.filter((name) => name === 'bob')).toHaveLength(8);
    // With 60 answers running for ann, there would be about 60 turns for each of his.
    expect(his.length).toBeLessThan(100);
    expect(group_members).toHaveLength(8 * 300);
    const answers = await attack;
    expect(answers.filter((answer) => answer.includes('"code":429'))).toHaveLength(58);
  });

  describe('for a client that reads slowly', () => {
    let answer: IncomingMessage;

    beforeEach(async () => {
      answer = await openAnswer(app, '/user/sync/0', cookie);
      await untilUnread(1);
    });

    afterEach(() => answer.destroy());

    it('reads no further ahead than the sockets hold, and holds no connection while it waits', async () => {
      const readAhead = reads.length;
      expect(await busyConnections()).toEqual([]);
      await Promise.all([
        ...Array.from({ length: 5 }, () => expectOk(ann.agent.post('/user/groups'))),
        ...Array.from({ length: 5 }, () => app.api.get('/readyz').expect(200)),
      ]);
      expect(reads).toHaveLength(readAhead);

      const { result } = JSON.parse(await text(answer)) as { result: SyncResult };
      expect(reads.length).toBeGreaterThan(readAhead);
      expect(inOrder(result.group_members)).toEqual(inOrder(await allMembers()));
    });

    it('leaves nothing running when the client disconnects', async () => {
      const other = await openAnswer(app, '/user/sync/0', cookie);
      await untilUnread(2);
      const before = reads.length;
      for (const left of [answer, other]) left.destroy();
      await pause(200);
      const after = reads.length;
      // At most one was running for each.
      expect(after - before).toBeLessThanOrEqual(2);
      await pause(200);
      expect(reads).toHaveLength(after);
      expect(await busyConnections()).toEqual([]);
      const { result } = JSON.parse(await text(await openAnswer(app, '/user/sync/0', cookie))) as {
        result: SyncResult;
      };
      expect(result.group_members).toHaveLength((await allMembers()).length);
    });

    // guard sync-large-1: a user has at most two large answers at a time
    // src/load/queues.ts
    // - per: 'user', share: 2, waiting: 0, refusal: tooManyOwn
    // + per: 'user', share: 1e9, waiting: 0, refusal: tooManyOwn
    it('gets two such answers at once, and 429 for more, while others get theirs', async () => {
      const second = await openAnswer(app, '/user/sync/0', cookie);
      for (let count = 0; count < 3; count += 1) {
        const refused = await post(ann.agent, '/user/sync/0');
        expectRefusal(refused, 429);
        expect(retryAfterOf(refused)).toBe(5);
      }
      const bob = await insertAndSignIn(app);
      await app.db('group_members').insert({ group_id: 'large1', member_id: bob.id });
      expect((await sync(bob)).group_members).toHaveLength(301);
      await app.db('group_members').where({ member_id: bob.id }).delete();

      // An answer that is read to its end, or dropped, frees its place.
      await text(second);
      const third = await openAnswer(app, '/user/sync/0', cookie);
      expect(third.statusCode).toBe(200);
      third.destroy();
      answer.destroy();
      await until(async () => (await post(ann.agent, '/user/sync/0')).status === 200);
    });

    it.each([
      ['plain', {}],
      ['gzip', { 'Accept-Encoding': 'gzip' }],
    ])(
      'aborts the answer when the database fails midway, so that half is never taken for the whole (%s)',
      async (_, headers) => {
        const other = await openAnswer(app, '/user/sync/0', { ...cookie, ...headers });
        await pause(100);
        await app.db.raw('ALTER TABLE group_members RENAME TO out_of_reach');
        try {
          const ends = [answer, other].map((half) => text(half).then(isWhole, broken));
          expect(await Promise.all(ends)).toEqual(['ECONNRESET', 'ECONNRESET']);
        } finally {
          await app.db.raw('ALTER TABLE out_of_reach RENAME TO group_members');
        }
        await expectOk(ann.agent.post('/user/groups'));
      },
    );
  });

  /** Inserts one group of 2,500 members and thirty of 300, with the user in each. */
  async function insertCrowd(): Promise<void> {
    await app.db.raw(
      `INSERT INTO users (id, nickname, portrait_uri)
         SELECT 'crowd' || n, 'Crowd ' || n, 'https://img.example/' || string_agg(md5(n || '/' || part), '')
           FROM generate_series(2, ?) n, generate_series(1, ?) part GROUP BY n`,
      [IN_LARGEST, HASHES],
    );
    await app.db.raw(
      `INSERT INTO groups (id, name, creator_id)
         SELECT 'large' || n, 'Large ' || n, 'crowd2' FROM generate_series(1, 30) n
         UNION ALL SELECT 'largest', 'Largest', 'crowd2'`,
    );
    // Each is one statement of the pool, whose time is limited.
    const members = [
      `SELECT 'largest', 'crowd' || n FROM generate_series(2, ${IN_LARGEST}) n`,
      ...[1, 11, 21].map(
        (first) => `SELECT 'large' || g, 'crowd' || n
                      FROM generate_series(${first}, ${first + 9}) g, generate_series(2, 300) n`,
      ),
      `SELECT id, '${ann.id}' FROM groups`,
    ];
    for (const some of members) await app.db.raw(`INSERT INTO group_members (group_id, member_id) ${some}`);
  }

  /** Inserts eight groups of 300. A statement of its own reads each. */
  async function insertGroupsOf({ id }: { id: string }): Promise<void> {
    const groups = Array.from({ length: 8 }, (_, index) => `bobs${index}`);
    await app.db('groups').insert(groups.map((group) => ({ id: group, name: group, creator_id: id })));
    await app.db.raw(
      `INSERT INTO group_members (group_id, member_id)
         SELECT g, 'crowd' || n FROM unnest(?::text[]) g, generate_series(2, 300) n
         UNION ALL SELECT g, ? FROM unnest(?::text[]) g`,
      [groups, id, groups],
    );
  }

  async function allMembers(): Promise<SyncMember[]> {
    const { rows } = await app.db.raw<{ rows: { member: SyncMember }[] }>(
      `SELECT json_build_object('groupId', group_id, 'memberId', member_id, 'displayName', display_name,
                'role', role, 'isDeleted', is_deleted, 'timestamp', version) AS member
         FROM group_members WHERE NOT is_deleted AND group_id LIKE 'large%'`,
    );
    const people = await app.db('users').select<Shown[]>('id', 'nickname', 'portrait_uri as portraitUri');
    const users = new Map(people.map(({ id, ...user }) => [id, user]));
    return rows.map(({ member }) => ({
      ...member,
      user: users.get(member.memberId) ?? { nickname: '', portraitUri: '' },
    }));
  }

  /** Waits until this number of answers have filled their sockets, and no statement runs for them. */
  async function untilUnread(answers: number): Promise<void> {
    let before = -1;
    await until(async () => {
      const isStill = app.fullConnections() === answers && reads.length === before;
      before = reads.length;
      await pause(100);
      return isStill && (await busyConnections()).length === 0;
    });
  }

  /** Returns the service's connections that are busy, except this one. */
  async function busyConnections(): Promise<unknown[]> {
    const { rows } = await app.db.raw<{ rows: unknown[] }>(
      `SELECT state, query FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'
          AND backend_type = 'client backend'`,
    );
    return rows;
  }
});

function inOrder(members: SyncMember[]): SyncMember[] {
  const keyOf = ({ groupId, memberId }: SyncMember) => `${groupId} ${memberId}`;
  return members.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function isWhole(): string {
  return 'whole';
}

function broken(error: NodeJS.ErrnoException): string | undefined {
  return error.code;
}
