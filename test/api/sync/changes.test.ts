import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { changePages } from '../../support/change-pages';
import { untilEventsSeen } from '../../support/events';
import { befriend, callGroup, createGroup } from '../../support/groups';
import { instancesBeside } from '../../support/instances';
import { expectOk, insertAndSignIn, signIn, verificationToken, type SignedInPerson } from '../../support/people';
import { stage } from '../../support/stage';
import { cookieFor } from '../../support/streams';
import { sync } from '../../support/sync';
import { until } from '../../support/until';

describe('GET /user/changes', () => {
  const connect = changePages(() => app);
  const { app, ann, bob } = stage({ people: 2, ownCluster: true });
  beforeEach(async () => {
    await befriend(app, ann, [bob]);
    await untilEventsSeen(app);
  });

  const instance = instancesBeside(() => app);
  const by = ({ agent }: SignedInPerson, path: string, body: object) => expectOk(agent.post(path).send(body));

  it('tells a version at once, and a later one after each change that concerns the user', async () => {
    const { answer, versions } = await connect(ann);
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    await until(() => versions.length === 1);
    await expectOk(bob.agent.post('/user/set_nickname').send({ nickname: 'Bobby' }));
    await until(() => versions.length === 2);
    const { friends, version } = await sync(ann, versions[0], { names: true });
    expect(friends).toMatchObject([{ friendId: bob.id }]);
    expect(version).toBeGreaterThanOrEqual(versions[1] ?? 0);
  });

  // guard changes-1: a page hears of groups that its user has joined since
  // src/features/sync/sync-service.ts
  // - this.lives.attend(live, await groupIds(reader));
  // + await groupIds(reader);
  it('hears of a group that the user has joined since', async () => {
    const { versions } = await connect(ann);
    await until(() => versions.length === 1);
    const group = await createGroup(app, [bob, ann]);
    await until(() => versions.length >= 2);
    const { version } = await sync(ann);
    const heard = versions.length;
    await expectOk(await callGroup(bob, 'rename', { groupId: group, name: 'Walkers' }));
    await until(() => versions.length > heard);
    expect(versions.at(-1)).toBeGreaterThanOrEqual(version);
  });

  // guard changes-3: pages hear of a claim of their own user only
  // src/features/sync/live-syncs.ts
  // - this.waiting.get(ofUser(subject)) ?? []) live.name(name);
  // + this.all) live.name(name);
  it("tells when the user's number was claimed, and when it was kept, and does not tell others", async () => {
    const streams = [await connect(ann), await connect(bob)] as const;
    await until(() => streams.every(({ versions }) => versions.length > 0));
    const body = { verification_token: await verificationToken(app, ann) };
    await expectOk(app.api.post('/user/start_over').send(body));
    await until(() => streams[0].named.length === 1);
    await expectOk(app.api.post('/user/start_over').send(body));
    await expectOk(ann.agent.post('/user/keep_number').send({ password: ann.password }));
    await until(() => streams[0].named.length === 2);
    await expectOk(bob.agent.post('/user/set_nickname').send({ nickname: 'Bobby' }));
    await until(() => streams[1].versions.length > 1);
    expect([streams[0].named.length, streams[1].named.length]).toEqual([2, 0]);
  });

  // guard changes-6: an owner hears of a sign-in by a code on a new device, which ends no session
  // src/features/auth/token-logins.ts
  // - await repos.events.tell(NEW_DEVICE, account.id);
  // + await Promise.resolve();
  it('tells of a sign-in by a code on a new device, and not of another one on it', async () => {
    const { versions, named } = await connect(ann);
    await until(() => versions.length === 1);
    const signInBy = async (agent: string) => {
      const body = { verification_token: await verificationToken(app, ann) };
      await expectOk(app.api.post('/user/login_by_token').set('User-Agent', agent).send(body));
    };
    await signInBy('Phone/2.0');
    await until(() => named.length === 1);
    await signInBy('Phone/2.0');
    await expectOk(bob.agent.post('/user/set_nickname').send({ nickname: 'Bobby' }));
    await until(() => versions.length > 1);
    expect(named).toEqual(['new_device']);
  });

  // guard changes-7: a sign-in by a code is told also where it keeps a claimed number
  // src/features/audit/security-events-repository.ts
  // - AND event IN ('registered', 'logged_in'))
  // + )
  it('tells of a new device that keeps a claimed number by its sign-in', async () => {
    const { versions, named } = await connect(ann);
    await until(() => versions.length === 1);
    const token = async () => ({ verification_token: await verificationToken(app, ann) });
    await expectOk(app.api.post('/user/start_over').send(await token()));
    await expectOk(
      app.api
        .post('/user/login_by_token')
        .set('User-Agent', 'Thief/1.0')
        .send(await token()),
    );
    await until(() => named.includes('new_device'));
  });

  it('tells nothing of a stranger', async () => {
    const { versions } = await connect(ann);
    const eve = await insertAndSignIn(app, 'Eve');
    await until(() => versions.length === 1);
    await expectOk(eve.agent.post('/user/set_nickname').send({ nickname: 'Evelyn' }));
    await expectOk(bob.agent.post('/user/set_nickname').send({ nickname: 'Bobby' }));
    await until(() => versions.length === 2);
    expect(versions).toHaveLength(2);
  });

  // guard changes-2: a page is told nothing after its session has ended
  // src/features/sync/changes-router.ts
  // - await handled(reading, req, res);
  // + if (!req.reads) await handled(reading, req, res);
  it('ends with the session, and is refused without one', async () => {
    const { hasEnded, versions } = await connect(ann);
    await until(() => versions.length === 1);
    await app.db('session').whereRaw(`sess ->> 'userId' = ?`, [ann.id]).delete();
    await until(hasEnded);
    expect((await fetch(`${app.url}/user/changes`)).status).toBe(401);
    expect(app.liveSyncs()).toBe(0);
  });

  it('ends when the instance is about to stop, and is forgotten when the browser leaves', async () => {
    const stopping = await instance();
    const leaving = await connect(ann, stopping);
    const staying = await connect(bob, stopping);
    await until(() => stopping.liveSyncs() === 2);
    leaving.stop.abort();
    await until(() => stopping.liveSyncs() === 1);
    stopping.announceStop();
    await until(staying.hasEnded);
    expect(stopping.liveSyncs()).toBe(0);
  });

  it('is one of five calls of a user that wait', async () => {
    const other = await signIn(app, ann);
    for (let count = 0; count < 5; count += 1) await connect(other);
    await until(() => app.liveSyncs() === 5);
    expect((await connect(ann)).answer.status).toBe(429);
  });

  // guard changes-5: a page of another origin cannot take the places of its visitor
  // src/features/sync/changes-router.ts
  // - refuseForeign(req);
  it.each<Record<string, string>>([
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { Origin: 'https://evil.example' },
  ])('is refused to a page of another origin: %j', async (headers) => {
    const cookie = await cookieFor(app, ann);
    for (const path of ['/user/changes', '/User/Changes/']) {
      const asking = request(app.url + path, { headers: { ...cookie, ...headers } }).end();
      const [answer] = (await once(asking, 'response')) as [IncomingMessage];
      asking.destroy();
      expect([answer.statusCode, answer.headers['x-reason']]).toEqual([403, 'cross_site']);
    }
    expect(app.liveSyncs()).toBe(0);
  });

  // guard changes-4: a page is not told what is done about its user elsewhere
  // src/features/sync/live-syncs.ts
  // - if (isOfGroup && other !== '') this.change(ofUser(other));
  // + if (other !== '') this.change(ofUser(other));
  it.each<[what: string, change: () => Promise<unknown>]>([
    ['is put on a blacklist by a friend', () => by(bob, '/user/add_to_blacklist', { friendId: ann.id })],
    ['gets a private name', () => by(bob, '/friendship/set_display_name', { friendId: ann.id, displayName: 'A' })],
    ['is no longer the friend on the side of the other', () => by(bob, '/friendship/delete', { friendId: ann.id })],
  ])('tells nothing when its user %s', async (_, change) => {
    const [page, witness] = [await connect(ann), await connect(bob)];
    await until(() => page.versions.length === 1 && witness.versions.length === 1);
    await change();
    await until(() => witness.versions.length === 2);
    await by(ann, '/user/set_nickname', { nickname: 'Annabel' });
    const { user } = await sync(ann);
    await until(() => (page.versions.at(-1) ?? 0) >= user.timestamp);
    expect(page.versions.filter((version) => version < user.timestamp)).toHaveLength(1);
  });

  it('refuses other methods', async () => {
    const answer = await app.api.post('/user/changes');
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET']);
  });
});
