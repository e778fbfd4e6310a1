import { createHash } from 'node:crypto';
import { REMOTE_COMMANDS } from '../../../src/admin/admin-api';
import type { Row } from '../../../src/admin/command';
import { SCOPES, type Scope } from '../../../src/admin/tokens-repository';
import { pathOf } from '../../../src/admin/command-body';
import { callAdmin, tokenWith, tryCommand } from '../../support/admin-calls';
import { startApp, type TestApp } from '../../support/app';
import { expectRefusal, post, reasonOf, retryAfterOf, sendRaw, type Answer } from '../../support/calls';
import { ADMIN_DOCUMENT } from '../../support/document';
import { FaultProxy } from '../../support/fault-proxy';
import { command } from '../../support/operator';
import { e164, field, newPhone, registerAndSignIn } from '../../support/people';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';
import { until } from '../../support/until';

const env = { ADMIN_PORT: '0', ADMIN_CALLS_PER_TOKEN_MINUTE: '10000', ADMIN_WRONG_TOKENS_PER_IP_MINUTE: '1000' };
const { app, ann } = stage({ env, people: 1, peopleOnce: true });
let tokens: Record<Scope, string>;
beforeAll(async () => {
  tokens = {
    read: await tokenWith(app, 'dashboard', 'read'),
    support: await tokenWith(app, 'helpdesk', 'support'),
    admin: await tokenWith(app, 'chief', 'admin'),
  };
});

const call = (path: string, body: object | string = {}, token?: string) =>
  callAdmin(app, path, token ?? tokens.admin, body);
const rows = ({ body }: Answer, title: string) => field(field(body, 'result'), title) as Row[];
const operatorEvents = () =>
  app
    .db('security_events')
    .where({ event: 'operator' })
    .orderBy('id', 'desc')
    .select<{ detail: string; ip: string; user_agent: string; request_id: string }[]>();

const local = (name: string, words: string[], options = {}) => command(app, name, words, options);

async function makeToken(...words: string[]): Promise<string> {
  const [row] = (await local('tokens add', words)).added as Row[];
  return rememberSecret(String(row?.token));
}

describe.each(REMOTE_COMMANDS)('POST for the command $name', (one) => {
  // guard admin-api-6: a token of the admin API runs only the commands of its scope
  // src/admin/door.ts
  // - if (!includes(token.scope, command.scope))
  // + if (!includes('admin', command.scope))
  it.each(SCOPES)('runs it for a token with the scope %s, or says which scope it needs', async (scope) => {
    const who = scope === 'read' && one.takes.includes('<user>') ? ann.id : e164(ann);
    const answer = await tryCommand(app, one, tokens[scope], who);
    if (SCOPES.indexOf(scope) < SCOPES.indexOf(one.scope)) expectRefusal(answer, 403, one.scope, 'scope_too_low');
    else if (answer.status !== 200) expectRefusal(answer, 400, '', 'admin_mistake');
  });

  // guard admin-api-1: the admin API wants a token
  // src/admin/door.ts
  // - if (token) return token;
  // + return token ?? { name: 'x', scope: 'admin' };
  it('needs a token, and does not exist on the public port', async () => {
    expectRefusal(await callAdmin(app, pathOf(one), undefined), 401, '', 'admin_token_wrong');
    const headers = { Authorization: `Bearer ${tokens.admin}` };
    expectRefusal(await sendRaw(app, pathOf(one), { headers, body: '{}' }), 404, '', 'no_such_path');
  });

  // guard admin-api-13: the admin API refuses fields that it does not know
  // src/admin/command-body.ts
  // - z.strictObject(
  // + z.object(
  it('takes POST only, and no field that is not in its description', async () => {
    const { status, headers } = await sendRaw({ url: app.adminUrl }, pathOf(one), { method: 'GET' });
    expect([status, headers.allow]).toEqual([405, 'POST']);
    const misspelt = await call(pathOf(one), { dry_run: true });
    expectRefusal(misspelt, 400, 'dry_run: is not a field', 'invalid_input');
  });
});

describe('the admin API', () => {
  it('answers what the command line shows', async () => {
    const answer = await call('/users/show', { user: e164(ann) }, tokens.support);
    expect(answer).toMatchObject({ status: 200, body: { code: 200 }, headers: { 'cache-control': 'no-store' } });
    expect(rows(answer, 'user')).toEqual((await local('users show', [ann.id])).user);
  });

  // guard admin-api-8: the audit trail has the name of the token of a change
  // src/admin/door.ts
  // - asOperator(`token ${token.name}`, callerOf(req))
  // + asOperator('somebody', callerOf(req))
  it('only tells what would change with dryRun; without it the audit trail names the token and the request', async () => {
    const bob = await registerAndSignIn(app);
    const before = (await operatorEvents()).length;
    expect(rows(await call('/sessions/end', { user: bob.id, dryRun: true }), 'would end')).toHaveLength(1);
    expect((await post(bob.agent, '/user/sessions')).status).toBe(200);
    expect(await operatorEvents()).toHaveLength(before);

    const answer = await call('/sessions/end', { user: e164(bob) }, tokens.support);
    expect(rows(answer, 'ended')).toHaveLength(1);
    expectRefusal(await post(bob.agent, '/user/sessions'), 401);
    const [event] = await operatorEvents();
    expect(event).toMatchObject({
      detail: `sessions end +447…${e164(bob).slice(-2)}, by token helpdesk`,
      user_agent: 'operator token helpdesk',
      ip: '127.0.0.1',
      request_id: String(answer.headers['x-request-id']),
    });
  });

  it('runs options by their names', async () => {
    const phone = newPhone();
    await post(app.api, '/user/send_code', phone);
    const answer = await call('/why', { phone: e164(phone), fix: true }, tokens.support);
    expect(field(field(answer.body, 'result'), 'lifted')).toEqual(['lifted resend']);
  });

  it('tells a mistake in a sentence', async () => {
    expectRefusal(await call('/users/show', { user: '0791' }), 400, 'no account has this id', 'admin_mistake');
    expectRefusal(await call('/why', { phone: '0791' }), 400, 'is not a phone number', 'admin_mistake');
  });

  it.each<[string, object, string]>([
    ['a missing word', {}, 'user: is missing'],
    ['a word that is a number', { user: 447400000000 }, 'user: must be a string'],
    ['an empty word', { user: '' }, 'user: must be 1 to 200 characters'],
    [
      'a word that would break a line of the audit trail',
      { user: 'a\nb' },
      'user: must not contain control characters',
    ],
    ['an option that is a text', { user: 'x', dryRun: 'false' }, 'dryRun: must be true or false'],
    ['two unknown fields', { user: 'x', yes: true, all: true }, 'yes: is not a field of this body; all: is not'],
  ])('refuses %s, and names the field', async (_what, body, message) => {
    expectRefusal(await call('/sessions/end', body), 400, message, 'invalid_input');
  });

  it.each<[string, string, number, string]>([
    ['that is not JSON', '{', 400, 'malformed_body'],
    ['that is a list', '[]', 400, 'malformed_body'],
    ['larger than 16 KiB', JSON.stringify({ user: 'x'.repeat(20_000) }), 413, 'body_too_large'],
  ])('refuses a body %s, as the public port does', async (_what, body, status, reason) => {
    expectRefusal(await call('/users/show', body), status, '', reason);
  });

  // guard admin-api-7: no token of the admin API makes, lists or revokes tokens
  // src/admin/admin-api.ts
  // - COMMANDS.filter(({ isLocal }) => isLocal !== true)
  // + COMMANDS
  it('answers 404 on an unknown path, and on the operations of users', async () => {
    for (const path of ['/', '/users', '/user/login', '/tokens/add', '/tokens/list', '/tokens/revoke', '/healthz'])
      expectRefusal(await call(path), 404, '', 'no_such_path');
  });

  it('refuses requests of pages of other sites, and sets no cookie', async () => {
    const headers = { Authorization: `Bearer ${tokens.admin}`, Origin: 'https://evil.example' };
    const answer = await sendRaw({ url: app.adminUrl }, '/doctor', { headers, body: '{}' });
    expectRefusal(answer, 403, '', 'cross_site');
    expect((await call('/spend/today')).headers).not.toHaveProperty('set-cookie');
  });

  // guard admin-api-9: the log has the token of each call of the admin API
  // src/admin/door.ts
  // - this.logger.info(line, 'an operator asks for a command');
  // + void line;
  it.each([
    ['audit search', 200],
    ['users close', 403],
  ])('logs who asked for %s in which request, also when it is refused, and no word of it', async (name, status) => {
    const route = `/${name.replace(' ', '/')}`;
    const answer = await call(route, { user: ann.id }, tokens.read);
    const requestId = answer.headers['x-request-id'];
    const linesOfCall = () => app.logged().filter((line) => line.requestId === requestId);
    await until(() => linesOfCall().length === 2);
    const lines = linesOfCall();
    expect(lines).toMatchObject([
      { operator: 'token dashboard', command: name, msg: 'an operator asks for a command' },
      { route, status },
    ]);
    expect(JSON.stringify(lines)).not.toContain(ann.id);
  });

  // guard admin-api-14: a token that only reads does not tell whether a phone has an account
  // src/admin/admin-api.ts
  // - door.checkWords(command, scope, input.words);
  it.each(['/audit/search', '/sessions/list'])('takes a phone at %s from the scope support on', async (route) => {
    for (const { phone, region } of [ann, newPhone()])
      expectRefusal(await call(route, { user: e164({ phone, region }) }, tokens.read), 403, '', 'scope_too_low');
    expect((await call(route, { user: e164(ann) }, tokens.support)).status).toBe(200);
    expect((await call(route, { user: ann.id }, tokens.read)).status).toBe(200);
  });

  it('describes itself at /openapi.json, without a token, and is not described on the public port', async () => {
    const answer = await sendRaw({ url: app.adminUrl }, '/openapi.json', { method: 'GET' });
    expect(answer.body).toEqual({ ...ADMIN_DOCUMENT, servers: [{ url: app.adminUrl }] });
    const { body } = await sendRaw(app, '/openapi.json', { method: 'GET' });
    expect(field(body, 'paths')).not.toHaveProperty(['/users/show']);
  });
});

describe('a token', () => {
  const enters = async (token: string) => (await call('/spend/today', {}, token)).status === 200;

  it.each(['', 'Basic x', 'Bearer', 'Bearer adm_x', `Bearer adm_${'x'.repeat(43)}`, `adm_${'x'.repeat(43)}`])(
    'that is malformed or unknown is refused, and counted for its address: %s',
    async (Authorization) => {
      const count = async () => {
        const used: unknown[] = await app
          .db('rate_limits')
          .where({ key: 'admin_wrong_tokens:127.0.0.1' })
          .pluck('used');
        return Number(used[0] ?? 0);
      };
      const before = await count();
      const answer = await sendRaw({ url: app.adminUrl }, '/spend/today', { headers: { Authorization }, body: '{}' });
      expectRefusal(answer, 401, 'Authorization', 'admin_token_wrong');
      expect(answer.headers['www-authenticate']).toBe('Bearer');
      expect(await count()).toBe(before + 1);
    },
  );

  // guard admin-api-2: a revoked token of the admin API ends at once
  // src/admin/tokens-repository.ts
  // - WHERE hash = :hash AND revoked_at IS NULL AND expires_at > now()),
  // + WHERE hash = :hash AND expires_at > now()),
  // guard admin-api-5: tokens of the admin API are kept as hashes
  // src/base/secrets.ts
  // - return createHash('sha256').update(token).digest();
  // + return Buffer.from(token).subarray(0, 32);
  it('is made by the command line, which prints it once and keeps its hash, and ends at once when revoked', async () => {
    const token = await makeToken('ci', 'read');
    expect(token).toMatch(/^adm_[A-Za-z0-9_-]{43}$/);
    expect(await enters(token)).toBe(true);
    const sha256 = createHash('sha256').update(token).digest();
    expect(await app.db('admin_tokens').where({ name: 'ci' }).pluck('hash')).toEqual([sha256]);
    expect((await operatorEvents())[0]).toMatchObject({ detail: 'tokens add ci read, by olga' });
    const listed = ((await local('tokens list', [])).tokens ?? []) as Row[];
    expect(listed.find(({ name }) => name === 'ci')).toMatchObject({
      scope: 'read',
      state: 'valid',
      createdBy: 'olga',
    });

    await local('tokens revoke', ['ci'], { dryRun: true });
    expect(await enters(token)).toBe(true);
    await local('tokens revoke', ['ci']);
    expect(await enters(token)).toBe(false);
    expect((await operatorEvents())[0]).toMatchObject({ detail: 'tokens revoke ci, by olga' });
    await expect(local('tokens revoke', ['ci'])).rejects.toThrow('ci: no token has this name');
    const next = await makeToken('ci', 'read', '1');
    expect([await enters(next), await enters(token)]).toEqual([true, false]);
  });

  // guard admin-api-3: a token of the admin API expires
  // src/admin/tokens-repository.ts
  // - WHERE hash = :hash AND revoked_at IS NULL AND expires_at > now()),
  // + WHERE hash = :hash AND revoked_at IS NULL),
  it('that has expired is refused', async () => {
    const token = await tokenWith(app, 'old', 'read');
    await app.db('admin_tokens').where({ name: 'old' }).update({ expires_at: app.db.fn.now() });
    expect(await enters(token)).toBe(false);
    const listed = ((await local('tokens list', [])).tokens ?? []) as Row[];
    expect(listed.find(({ name }) => name === 'old')).toMatchObject({ state: 'expired' });
  });

  it('shows when it was last used, to the hour, so that calls write nothing', async () => {
    const token = await tokenWith(app, 'polling', 'read');
    const mine = () => app.db('admin_tokens').where({ name: 'polling' });
    const used = async () => (await mine().first<{ last_used_at: Date | null }>())?.last_used_at;
    expect(await used()).toBeNull();
    await enters(token);
    const first = await used();
    expect(first).toBeInstanceOf(Date);
    await enters(token);
    expect(await used()).toEqual(first);
    await mine().update({ last_used_at: app.db.raw(`now() - interval '61 minutes'`) });
    await enters(token);
    expect(Number(await used())).toBeGreaterThanOrEqual(Number(first));
  });

  it.each([
    [['Ci', 'read'], 'a name has 1 to 40 lower-case letters'],
    [['ci 2', 'read'], 'a name has 1 to 40 lower-case letters'],
    [['dashboard', 'read'], 'a token has this name'],
    [['another', 'root'], 'is not a scope: take one of read, support, admin'],
    [['another', 'read', '0'], 'a token lives for 1 to 400 days'],
    [['another', 'read', '401'], 'a token lives for 1 to 400 days'],
  ])('is not made of %j, and a dry run says so too', async (words, message) => {
    for (const options of [{}, { dryRun: true }])
      await expect(local('tokens add', words, options)).rejects.toThrow(message);
  });

  it('is not made by a dry run', async () => {
    expect((await local('tokens add', ['another', 'admin'], { dryRun: true }))['would add']).toEqual([
      { name: 'another', scope: 'admin', days: 90 },
    ]);
    expect(await app.db('admin_tokens').where({ name: 'another' })).toEqual([]);
  });

  // guard admin-api-4: no token of the admin API lives longer than 400 days
  // migrations/0025_admin_tokens.up.sql
  // - CHECK (expires_at <= created_at + interval '9600 hours')
  // + CHECK (expires_at <= created_at + interval '96000 hours')
  it('that lives longer than 400 days is refused by the table too', async () => {
    const change = { expires_at: app.db.raw(`created_at + interval '401 days'`) };
    await expect(app.db('admin_tokens').where({ name: 'dashboard' }).update(change)).rejects.toThrow(
      'admin_tokens_expires',
    );
  });
});

describe('the limits of the admin API', () => {
  const few = { ADMIN_PORT: '0', ADMIN_CALLS_PER_TOKEN_MINUTE: '3', ADMIN_WRONG_TOKENS_PER_IP_MINUTE: '2' };
  const { app: limited } = stage({ env: few, eachTest: true });

  // guard admin-api-10: the calls of a token of the admin API are limited
  // src/admin/door.ts
  // - await this.limiter.take(operator.caller, { limit: 'adminCalls', subject: token.name });
  it('refuse a token beyond its calls of a minute, by its name, and let others go on', async () => {
    const [busy, other] = [await tokenWith(limited, 'busy', 'read'), await tokenWith(limited, 'other', 'read')];
    for (let count = 0; count < 3; count += 1)
      expect((await callAdmin(limited, '/spend/today', busy)).status).toBe(200);
    const refused = await callAdmin(limited, '/spend/today', busy);
    expectRefusal(refused, 429, '', 'too_many_admin_calls');
    expect(retryAfterOf(refused)).toBeLessThanOrEqual(60);
    expect((await callAdmin(limited, '/spend/today', other)).status).toBe(200);
    expect(await limited.db('rate_limits').whereLike('key', 'admin_calls:%').orderBy('key').pluck('key')).toEqual([
      'admin_calls:busy',
      'admin_calls:other',
    ]);
    expect(await limited.db('security_events').where({ event: 'limit_met' })).toMatchObject([
      { detail: 'admin_calls', user_agent: 'operator token busy', ip: '127.0.0.1' },
    ]);
  });

  // guard admin-api-11: wrong tokens of an address are limited
  // src/admin/door.ts
  // - await this.limiter.take(caller, { limit: 'adminWrongTokens', subject: caller.address });
  // guard admin-api-12: wrong tokens of an address keep out no right one
  // src/admin/door.ts
  // - if (token) return token;
  // +     await this.limiter.take(callerOf(req), { limit: 'adminWrongTokens', subject: callerOf(req).address });
  // +     if (token) return token;
  it('refuse wrong tokens of an address beyond those of a minute, and never a right one', async () => {
    const right = await tokenWith(limited, 'right', 'read');
    const wrong = () => callAdmin(limited, '/spend/today', `adm_${'x'.repeat(43)}`);
    const answers = [await wrong(), await wrong(), await wrong()];
    expect(answers.map(reasonOf)).toEqual(['admin_token_wrong', 'admin_token_wrong', 'too_many_admin_calls']);
    expect((await callAdmin(limited, '/spend/today', right)).status).toBe(200);
    expect(await limited.db('security_events').where({ event: 'limit_met' })).toMatchObject([
      { detail: 'admin_wrong_tokens' },
    ]);
  });
});

describe('the admin API answers 503 with Retry-After', () => {
  let proxy: FaultProxy;
  let behind: TestApp;
  async function startBehindProxy(patience: number): Promise<void> {
    proxy = await FaultProxy.start(app.databaseUrl);
    behind = await startApp({ ADMIN_PORT: '0' }, { databaseUrl: proxy.url, dataDir: app.dataDir, patience });
    expect((await status()).status).toBe(200);
  }
  afterEach(async () => {
    await proxy.close();
    await behind.close();
  });

  const status = () => callAdmin(behind, '/db/status', tokens.read);

  /** The reason shows that the answer did not wait for the deadline. */
  async function expect503(): Promise<void> {
    const answer = await status();
    expectRefusal(answer, 503, '', 'overloaded');
    expect(retryAfterOf(answer)).toBeGreaterThanOrEqual(1);
  }

  it('when the database refuses connections for longer than requests wait', async () => {
    await startBehindProxy(1);
    proxy.refuse();
    await expect503();
  });

  it('within seconds when the database has frozen, and works again soon after', async () => {
    await startBehindProxy(1);
    proxy.stall();
    await expect503();
    proxy.resume();
    await until(async () => (await status()).status === 200);
  });
});
