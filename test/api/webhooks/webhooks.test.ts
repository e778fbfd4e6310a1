import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { Metrics } from '../../../src/composition/metrics';
import { startApp, type TestApp } from '../../support/app';
import { untilEventsSeen } from '../../support/events';
import { Gate } from '../../support/gate';
import { createGroup } from '../../support/groups';
import { instancesBeside } from '../../support/instances';
import { command, noted, rowsOf } from '../../support/operator';
import {
  expectOk,
  field,
  insertAndSignIn,
  newPassword,
  registerAndSignIn,
  verificationToken,
  type SignedInPerson,
} from '../../support/people';
import { rememberSecret } from '../../support/secrets';
import {
  startVendorServer,
  type RecordedRequest,
  type Reply,
  type VendorServer,
} from '../../support/stand-ins/vendor-server';
import { watchStatements } from '../../support/statements';
import { until } from '../../support/until';

interface Told {
  id: string;
  type: string;
  data: Record<string, string>;
}

/** Ends the service's connections, as an outage of the database does. */
const END_CONNECTIONS = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                          WHERE datname = current_database() AND usename <> current_user`;
const LOOPBACK = { WEBHOOK_NETWORKS: '127.0.0.0/8' };

describe('a webhook', () => {
  let app: TestApp;
  let metrics: Metrics;
  let loggedBefore: number;
  let ann: SignedInPerson;
  let receiver: VendorServer;
  let reply: (request: RecordedRequest) => Reply | Promise<Reply>;
  const taken = (): Reply => ({ status: 200, json: {} });
  const anotherInstance = instancesBeside(() => app, LOOPBACK);

  beforeAll(async () => {
    metrics = new Metrics();
    app = await startApp(LOOPBACK, { metrics });
  });
  afterAll(() => app.close());

  beforeEach(async () => {
    loggedBefore = app.logged().length;
    ann = await insertAndSignIn(app, 'Ann');
    reply = taken;
    receiver = await startVendorServer(200, (request) => reply(request));
  });
  afterEach(async () => {
    await app.db('webhooks').delete();
    await receiver.close();
  });

  const admin = (name: string, words: string[] = [], options: Record<string, boolean> = {}) =>
    command(app, name, words, options, LOOPBACK);

  /** Adds a webhook once nothing is told of before any more. */
  async function addWebhook(path = '/', kinds = ''): Promise<{ id: string; secret: string }> {
    await untilEventsSeen(app);
    const [row] = rowsOf(await admin('webhooks add', [receiver.url + path, kinds]), 'added');
    return { id: String(row?.id), secret: rememberSecret(String(row?.secret)) };
  }
  const toldTo = (path = '/'): Told[] =>
    receiver.requests
      .filter((request) => request.path === path)
      .map(({ headers, body }) => ({ id: String(headers['webhook-id']), ...(JSON.parse(body) as Omit<Told, 'id'>) }));
  const typesTo = (path = '/') => toldTo(path).map(({ type }) => type);
  const logged = () => app.logged().slice(loggedBefore);
  const rename = (nickname: string) => expectOk(ann.agent.post('/user/set_nickname').send({ nickname }));
  const dueNow = () => app.db('webhooks').update({ due_at: new Date(0) });
  const failingForADay = () =>
    app.db('webhooks').update({ failing_since: new Date(Date.now() - 25 * 3_600_000), due_at: new Date(0) });
  /** Tells of changes of these users in one transaction. */
  const tell = (...users: string[]) =>
    app.db.raw(`SELECT tell('user.updated', one) FROM unnest(?::text[]) WITH ORDINALITY AS u (one, n) ORDER BY n`, [
      users,
    ]);
  const listed = async () => rowsOf(await admin('webhooks list'), 'webhooks');
  const isUpToDate = async () => (await listed()).every(({ behind, state }) => state !== 'told' || behind === 0);

  it('is told of each change in order, with whom it concerns', async () => {
    await addWebhook();
    const bob = await registerAndSignIn(app);
    const group = await createGroup(app, [ann, bob]);
    await rename('Annabel');
    await until(() => typesTo().includes('user.updated'));
    const ofBob = toldTo().slice(toldTo().findIndex(({ data }) => data.userId === bob.id));
    const joined = (memberId: string) => ['members.changed', { groupId: group, memberId, what: 'joined' }];
    const befriended = ([one, other]: SignedInPerson[]) => [
      'friendship.changed',
      { userId: one?.id, friendId: other?.id },
    ];
    const told = ofBob.map(({ type, data }) => [type, data]);
    const inTheirOrder = (some: unknown[][]) =>
      some.sort((one, other) => JSON.stringify(one).localeCompare(JSON.stringify(other)));
    expect(inTheirOrder(told.slice(0, 4))).toEqual(
      inTheirOrder([
        ['phone.changed', { userId: bob.id }],
        ['user.registered', { userId: bob.id }],
        befriended([ann, bob]),
        befriended([bob, ann]),
      ]),
    );
    expect(told.slice(4, 5)).toEqual([['group.created', { groupId: group }]]);
    expect(inTheirOrder(told.slice(5, 7))).toEqual(inTheirOrder([joined(ann.id), joined(bob.id)]));
    expect(told.slice(7)).toEqual([['user.updated', { userId: ann.id }]]);
  });

  it('is told in order of claims of a number, of the end of its account, and of the next one', async () => {
    await addWebhook('/', 'phone.claimed,phone.kept,user.closed,user.registered');
    const proof = async () => {
      await app.db('rate_limits').delete();
      return verificationToken(app, ann);
    };
    const startOver = async (verification_token: string) =>
      expectOk(app.api.post('/user/start_over').send({ verification_token }));
    await startOver(await proof());
    await expectOk(ann.agent.post('/user/keep_number').send({ password: ann.password }));
    await startOver(await proof());
    await app.db('number_claims').update({ due_at: app.db.fn.now() });
    const verification_token = await proof();
    await startOver(verification_token);
    const registration = { nickname: 'Next', password: newPassword(), verification_token };
    const { result } = await expectOk(app.api.post('/user/register').send(registration));
    await until(() => typesTo().length === 5);
    expect(toldTo().map(({ type, data }) => [type, data.userId])).toEqual([
      ['phone.claimed', ann.id],
      ['phone.kept', ann.id],
      ['phone.claimed', ann.id],
      ['user.closed', ann.id],
      ['user.registered', field(result, 'id')],
    ]);
  });

  it('signs as Standard Webhooks, with both secrets after a change of the secret', async () => {
    const { id, secret } = await addWebhook();
    await rename('Annabel');
    await until(() => receiver.requests.length === 1);
    const [renewed] = rowsOf(await admin('webhooks secret', [id]), 'renewed');
    await rename('Anna');
    await until(() => receiver.requests.length === 2);
    await admin('webhooks test', [id]);
    const typeBy = (by: string, { body, headers }: RecordedRequest) =>
      (new Webhook(by).verify(body, headers as Record<string, string>) as Told).type;
    const [first, second, tested] = receiver.requests as [RecordedRequest, RecordedRequest, RecordedRequest];
    const next = rememberSecret(String(renewed?.secret));
    expect([typeBy(secret, first), typeBy(secret, second), typeBy(next, second)]).toEqual(
      Array(3).fill('user.updated'),
    );
    expect([typeBy(secret, tested), typeBy(next, tested)]).toEqual(Array(2).fill('webhook.test'));
    expect(() => typeBy(next, first)).toThrow('signature');
  });

  // guard webhooks-11: a webhook is signed at the database's time
  // src/features/webhooks/webhooks.ts
  // - messageOf(event, lease.now + performance.now() - takenAt)
  // + messageOf(event, Date.now())
  it.each([-1, 1])("signs at the database's time on an instance whose clock is wrong by %s h", async (hours) => {
    const { id } = await addWebhook();
    const now = Date.now.bind(Date);
    jest.spyOn(Date, 'now').mockImplementation(() => now() + hours * 3_600_000);
    await rename('Annabel');
    await until(() => receiver.requests.length === 1);
    await admin('webhooks test', [id]);
    jest.restoreAllMocks();
    const ages = receiver.requests.map(({ headers }) => Date.now() / 1_000 - Number(headers['webhook-timestamp']));
    expect(ages.map((age) => Math.abs(age) < 60)).toEqual([true, true]);
  });

  // guard webhooks-3: the secret before signs for a day only
  // src/features/webhooks/webhooks-repository.ts
  // - CASE WHEN old_secret_until > now() THEN old_secret END
  // + old_secret
  it('stops signing with the secret before after a day', async () => {
    const { id, secret } = await addWebhook();
    await admin('webhooks secret', [id]);
    await app.db('webhooks').update({ old_secret_until: new Date(0) });
    await rename('Annabel');
    await until(() => receiver.requests.length === 1);
    const [{ body, headers }] = receiver.requests as [RecordedRequest];
    expect(() => new Webhook(secret).verify(body, headers as Record<string, string>)).toThrow('signature');
  });

  // guard webhooks-2: a webhook is told only of its kinds
  // src/features/webhooks/webhooks.ts
  // - lease.kinds.length === 0 || lease.kinds.includes(event.kind)
  // + true
  it('is told only of its kinds, and nothing of before it was added', async () => {
    await rename('Before');
    await addWebhook('/renames', 'user.updated');
    await addWebhook('/logouts', 'sessions.ended,user.closed');
    await rename('After');
    await expectOk(ann.agent.post('/user/logout'));
    await until(async () => receiver.requests.length >= 2 && (await isUpToDate()));
    expect([typesTo('/renames'), typesTo('/logouts')]).toEqual([['user.updated'], ['sessions.ended']]);
  });

  // guard webhooks-7: an event that was not taken is told again
  // src/features/webhooks/webhooks.ts
  // - if (isWanted) await send(event);
  // + if (isWanted) await send(event).catch(() => undefined);
  it('that fails holds up only itself, and is told the same event until it takes it', async () => {
    await addWebhook('/ill', 'user.updated');
    await addWebhook('/well', 'user.updated');
    reply = ({ path }) => (path === '/ill' ? { status: 500, json: {} } : taken());
    for (const name of ['One', 'Two']) await rename(name);
    await until(() => toldTo('/well').length === 2 && toldTo('/ill').length >= 1);
    await until(async () => (await listed()).some(({ state }) => state === 'failing'));
    const [failing] = (await listed()).filter(({ state }) => state === 'failing');
    expect(failing).toMatchObject({ failure: 'it answered with the HTTP status 500' });
    expect(logged().some(({ msg }) => String(msg).includes('a webhook did not take an event'))).toBe(true);
    reply = taken;
    await dueNow();
    await until(() => toldTo('/ill').at(-1)?.id === toldTo('/well')[1]?.id);
    expect(new Set(toldTo('/ill').map(({ id }) => id))).toEqual(new Set(toldTo('/well').map(({ id }) => id)));
    expect((await listed()).map(({ state }) => state)).toEqual(['told', 'told']);
  });

  // guard webhooks-8: a webhook that fails waits
  // src/database/lease-statements.ts
  // - 2 ^ (least(attempts, 16) - 1)
  // + 1
  it('waits longer after each failure, up to ten minutes', async () => {
    await addWebhook();
    reply = () => ({ status: 503, json: {} });
    await rename('Annabel');
    /** Returns the seconds until the next attempt after this number of failures. */
    const waitAfter = async (failures: number) => {
      const asked = receiver.requests.length;
      await app.db('webhooks').update({ attempts: failures - 1, due_at: new Date(0) });
      await until(() => receiver.requests.length > asked);
      const left = app.db.raw('extract(epoch FROM due_at - now())::float8 AS left');
      let row: { left: number } | undefined;
      // Longer than the lease, which is there while it is told.
      await until(async () => ((row = await app.db('webhooks').first<{ left: number }>(left)).left ?? 0) > 31);
      return row?.left;
    };
    expect(await waitAfter(7)).toBeGreaterThan(100);
    expect(await waitAfter(30)).toBeGreaterThan(500);
    expect(await waitAfter(30)).toBeLessThanOrEqual(600);
  });

  // guard webhooks-9: a webhook that goes on is told again soon after its next failure
  // src/features/webhooks/webhooks-repository.ts
  // - LEASE.renew(MOVED, WELL, 'attempts = 1')
  // + LEASE.renew(MOVED, WELL)
  it('that has gone on after failures counts from one again, and waits as short as after the first', async () => {
    await addWebhook();
    reply = () => ({ status: receiver.requests.length > 1 ? 500 : 200, json: {} });
    await app.db('webhooks').update({ attempts: 12 });
    await app.db.raw(`SELECT tell('user.updated', 'one'), tell('user.updated', 'two')`);
    await until(async () => (await listed())[0]?.state === 'failing');
    // It has failed again by now where the machine is slow, but not twelve times, each after twice the wait.
    expect((await app.db('webhooks').first<{ attempts: number }>('attempts')).attempts).toBeLessThan(12);
  });

  // guard webhooks-4: a paused webhook is told nothing
  // src/features/webhooks/webhooks-repository.ts
  // - AND paused_at IS NULL AND EXISTS
  // + AND EXISTS
  // guard webhooks-5: a webhook that fails for a day is paused
  // src/features/webhooks/webhooks-repository.ts
  // - failing_since < ${LEASE.tooOld}
  // + false
  it('is paused after a day of failures, is told nothing then, and goes on where it was', async () => {
    const { id } = await addWebhook();
    reply = () => ({ status: 404, json: {} });
    await rename('Annabel');
    await tell('another');
    await until(async () => (await listed())[0]?.state === 'failing');
    await failingForADay();
    await until(async () => (await listed())[0]?.state === 'paused');
    const asked = receiver.requests.length;
    expect(await metrics.text()).toContain('accounts_webhooks{state="paused"} 1');
    expect(logged().some(({ msg }) => String(msg).includes('is paused'))).toBe(true);
    await dueNow();
    await addWebhook('/other');
    reply = taken;
    await rename('Ann');
    await until(() => toldTo('/other').length === 1);
    expect(receiver.requests).toHaveLength(asked + 1);
    await admin('webhooks resume', [id]);
    await until(() => toldTo('/').length === asked + 3);
    expect(toldTo('/')[asked]?.id).toBe(toldTo('/')[0]?.id);
  });

  // guard webhooks-13: one event that is refused for a day does not pause a webhook
  // src/features/webhooks/webhooks.ts
  // - if (!(await takes(next))) return 'refuses more';
  // + return 'refuses more';
  // guard webhooks-16: an event that a webhook does not want is none that it has taken
  // src/features/webhooks/webhooks.ts
  // - hasTaken ||= isWanted;
  // + hasTaken = true;
  it('has an event set aside that it refuses for a day, goes on, and is told it when an operator wants', async () => {
    const { id } = await addWebhook('/', 'user.updated');
    let refused = 'one';
    reply = ({ body }) => ({ status: body.includes(`"${refused}"`) ? 422 : 200, json: {} });
    await failingForADay();
    await tell('one');
    // By itself it waits for another event, which tells whether the webhook refuses all.
    await until(async () => (await listed())[0]?.failure !== '');
    // The receiver takes no event of this subject.
    await app.db.raw(`SELECT tell('phone.changed', 'one')`);
    await tell('one', 'two');
    await dueNow();
    await until(async () => (await listed())[0]?.state === 'told');
    const event = toldTo()[0]?.id ?? '';
    expect((await listed())[0]).toMatchObject({ behind: 0 });
    const [first = '', second = ''] = String((await listed())[0]?.setAside).split(/(?<=status 422)\W+/);
    expect(first).toMatch(new RegExp(`^${event} .* it answered with the HTTP status 422$`));
    expect(second).toMatch(/^\d+-\d+-one .* 422$/);
    const replay = (of: string) => admin('webhooks replay', [id, of], { only: true });
    await expect(replay(event)).rejects.toThrow('HTTP status 422');
    refused = 'three';
    await replay(event);
    expect([toldTo().at(-1)?.id, (await listed())[0]?.setAside]).toEqual([event, second]);
    // Nothing is told of an event that is not kept any more.
    await app.db.raw(`UPDATE webhooks SET set_aside = set_aside || '{"id": "1-1-gone"}'`);
    await expect(replay('1-1-gone')).rejects.toThrow('is not kept any more');
    expect((await listed())[0]?.setAside).toBe(second);
    await admin('webhooks replay', [id, event]);
    expect((await listed())[0]?.setAside).toBe('');
  });

  // guard webhooks-14: an event is not set aside if its receiver is back
  // src/features/webhooks/webhooks.ts
  // - if (!(await takes(first)))
  // + if (true)
  it('has no event set aside that it takes after the next one, and is told the next one again', async () => {
    await addWebhook();
    reply = () => ({ status: receiver.requests.length > 1 ? 200 : 500, json: {} });
    await failingForADay();
    await tell('one', 'two');
    await until(() => receiver.requests.length === 4);
    expect(toldTo().map(({ data }) => data.userId)).toEqual(['one', 'two', 'one', 'two']);
    expect((await listed())[0]?.setAside).toBe('');
  });

  // guard webhooks-15: an event is not set aside if its webhook has gone on since the day of failures
  // src/features/webhooks/webhooks.ts
  // - lease.isOverdue = false;
  it('has no event set aside that it refuses once, after it has gone on', async () => {
    await addWebhook();
    reply = ({ body }) => ({ status: body.includes('"two"') ? 500 : 200, json: {} });
    await failingForADay();
    await tell('one', 'two', 'three');
    await until(async () => (await listed()).some(({ failure, setAside }) => failure !== '' || setAside !== ''));
    expect((await listed())[0]).toMatchObject({ state: 'failing', setAside: '' });
    expect(toldTo().map(({ data }) => data.userId)).not.toContain('three');
  });

  // guard webhooks-6: a webhook that is gone is paused
  // src/features/webhooks/webhooks.ts
  // - error instanceof NotTaken && error.isGone
  // + false
  it('is paused at once when it is gone', async () => {
    await addWebhook();
    reply = () => ({ status: 410, json: {} });
    await rename('Annabel');
    await until(async () => (await listed())[0]?.state === 'paused');
  });

  it('is told by several instances together, each event once and in order', async () => {
    await addWebhook();
    const other = await anotherInstance();
    expect(other.url).not.toBe(app.url);
    await app.db.raw(`SELECT tell('user.updated', 'u' || n) FROM generate_series(1, 60) n`);
    await until(() => receiver.requests.length >= 60);
    await until(isUpToDate);
    expect(toldTo().map(({ data }) => data.userId)).toEqual(Array.from({ length: 60 }, (_, n) => `u${n + 1}`));
  });

  // guard webhooks-1: a webhook is moved only by the instance that has it
  // src/features/webhooks/webhooks-repository.ts
  // - AND turn = :turn::bigint AND paused_at IS NULL
  // + AND :turn::bigint IS NOT NULL AND paused_at IS NULL
  it('is told by another instance when one has died, and by one that comes back nothing of before', async () => {
    await addWebhook();
    const gate = new Gate();
    reply = async () => {
      reply = taken;
      await gate.wait();
      return taken();
    };
    await rename('One');
    await gate.reached;
    const other = await anotherInstance();
    expect(other.url).not.toBe(app.url);
    await rename('Two');
    await dueNow();
    await until(() => toldTo().length === 3);
    await until(isUpToDate);
    gate.open();
    await rename('Three');
    await until(() => toldTo().length >= 4);
    await until(isUpToDate);
    const told = toldTo().map((one) => one.id);
    expect([told.length, told[1], new Set(told).size]).toEqual([4, told[0], 3]);
  });

  // guard webhooks-10: a webhook does not wait for the end of a lease after an outage of the database
  // src/load/lease-worker.ts
  // - if (this.isClosed || performance.now() > end) throw error;
  // + throw error;
  it('goes on at once after an outage of the database, and is told nothing twice', async () => {
    await addWebhook();
    const gate = new Gate();
    watchStatements('SET version = $', { beforeSending: () => gate.wait() });
    for (const name of ['One', 'Two']) await rename(name);
    await gate.reached;
    await app.db.raw(END_CONNECTIONS);
    jest.restoreAllMocks();
    gate.open();
    await app.db.raw(`SELECT tell('user.updated', 'three')`);
    // Sooner than the lease is over, which lasts for 30 seconds.
    await until(() => toldTo().length >= 3, 25_000);
    await until(isUpToDate);
    expect(new Set(toldTo().map(({ id }) => id)).size).toBe(toldTo().length);
    expect((await listed())[0]).toMatchObject({ state: 'told', failure: '' });
  });

  // guard webhooks-12: a webhook does not wait for an hour after the database's clock was set back by one
  // src/database/lease-statements.ts
  // - some(`due_at > now() + interval '${2 * pauses[1]} seconds'`)
  // + some('false')
  it("is told after the database's clock was set back by an hour", async () => {
    await addWebhook();
    reply = () => ({ status: 500, json: {} });
    await rename('Annabel');
    await until(async () => (await listed())[0]?.state === 'failing');
    await app.db('webhooks').update({ due_at: app.db.raw(`now() + interval '1 hour'`) });
    reply = taken;
    await until(async () => (await listed())[0]?.state === 'told');
  });

  it('is told again from an event on, as an operator wants', async () => {
    const { id } = await addWebhook();
    for (const name of ['One', 'Two', 'Three']) await rename(name);
    await until(() => toldTo().length === 3);
    const [, second, third] = toldTo().map((one) => one.id) as [string, string, string];
    await admin('webhooks replay', [id, second]);
    await until(() => toldTo().length === 5);
    expect(
      toldTo()
        .slice(3)
        .map((one) => one.id),
    ).toEqual([second, third]);
    await expect(admin('webhooks replay', [id, 'yesterday'])).rejects.toThrow('is not the id of an event');
  });

  it('is not told while it is paused, and is told nothing any more once it is removed', async () => {
    const { id } = await addWebhook();
    await admin('webhooks pause', [id], { dryRun: true });
    expect((await listed())[0]?.state).toBe('told');
    await admin('webhooks pause', [id]);
    await expect(admin('webhooks pause', [id])).rejects.toThrow('it is paused');
    await admin('webhooks remove', [id]);
    await expect(admin('webhooks test', [id])).rejects.toThrow('no webhook has this id');
    expect(await listed()).toEqual([]);
  });

  it('takes a test event, or is said not to', async () => {
    const { id } = await addWebhook();
    expect(rowsOf(await admin('webhooks test', [id]), 'taken')).toEqual([{ id }]);
    expect(typesTo()).toEqual(['webhook.test']);
    reply = () => ({ status: 302, json: {}, headers: { Location: `${receiver.url}/elsewhere` } });
    await expect(admin('webhooks test', [id])).rejects.toThrow('it redirects (HTTP status 302), which is not followed');
    expect(typesTo('/elsewhere')).toEqual([]);
  });

  it('has a secret that only its addition tells, and not the audit trail, the list or the log', async () => {
    const { secret } = await addWebhook();
    expect((await noted(app))?.detail).toMatch(/^webhooks add http/);
    const rows = JSON.stringify([await listed(), await app.db('security_events').select(), app.logged()]);
    expect(rows).not.toContain(secret.slice(6));
  });

  it.each([
    ['ftp://example.com', [], 'is not an https address'],
    ['https://olga:secret@example.com', [], 'contains a user or a password'],
    ['https://example.com', ['user.renamed'], 'user.renamed: is not a kind of events'],
  ])('is not added as %s', async (url, kinds, message) => {
    await expect(admin('webhooks add', [url, ...kinds])).rejects.toThrow(message);
    expect(await listed()).toEqual([]);
  });

  it('is told of the kinds that docs/webhooks.md lists', async () => {
    const page = readFileSync(join(__dirname, '../../../docs/webhooks.md'), 'utf8');
    const rows = [...page.matchAll(/^\| (`[a-z_.]+`(?:, `[a-z_.]+`)*) \|/gm)].map(([, kinds = '']) => kinds);
    const documented = rows.flatMap((kinds) => kinds.replaceAll('`', '').split(', '));
    await expect(admin('webhooks add', ['https://example.com', 'user.renamed'])).rejects.toThrow(
      `user.renamed: is not a kind of events: take some of ${documented.sort().join(', ')}`,
    );
  });

  it.each([
    ['http://example.com', ''],
    ['http://10.0.0.7', '192.168.0.0/16'],
    ['https://10.0.0.7', ''],
    ['https://[::1]/', '10.0.0.0/8'],
  ])('is not added as %s, where it can never be called', async (url, WEBHOOK_NETWORKS) => {
    await expect(command(app, 'webhooks add', [url], {}, { WEBHOOK_NETWORKS })).rejects.toThrow(
      `${url}: cannot be called: its address is private, or it has no https: WEBHOOK_NETWORKS allows such networks`,
    );
    expect(await listed()).toEqual([]);
  });

  it.each([
    ['http://internal.example', '10.0.0.0/8'],
    ['http://10.0.0.7', '10.0.0.0/8'],
    ['https://example.com', ''],
  ])('is added as %s where the settings allow it', async (url, WEBHOOK_NETWORKS) => {
    await command(app, 'webhooks add', [url], {}, { WEBHOOK_NETWORKS });
    expect(await listed()).toHaveLength(1);
  });
});
