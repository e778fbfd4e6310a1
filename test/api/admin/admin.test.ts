import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, globalAgent } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asJson, asText } from '../../../src/admin/as-text';
import type { Row } from '../../../src/admin/command';
import { masked } from '../../../src/features/phones/phone-number';
import { startApp, type Env, type TestApp } from '../../support/app';
import { expectRefusal, post, reasonOf } from '../../support/calls';
import { itOnOneServer } from '../../support/on-one-server';
import { command, linesOf, noted, rowsOf } from '../../support/operator';
import { e164, insertPerson, newPhone, registerAndSignIn, signIn, type PhoneFields } from '../../support/people';
import { productionEnv } from '../../support/production';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';
import { startTwilioStandIn } from '../../support/stand-ins/twilio';
import { startVendorServer } from '../../support/stand-ins/vendor-server';
import { until } from '../../support/until';

const ENV: Env = { SEND_CODE_PER_DAY: '100', LOGIN_FAILURES_PER_PHONE_AND_IP: '3' };
const { app } = stage({ env: ENV });

const admin = (
  name: string,
  words: string[] = [],
  options: Record<string, boolean> = {},
  { on = app, env = {} }: { on?: TestApp; env?: Env } = {},
) => command(on, name, words, options, { ...ENV, ...env });

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
if (!hasOpenssl) process.stderr.write('The check of certificates is NOT tested: no openssl is installed.\n');

/** Makes a certificate of localhost that is valid for some days. */
function certificate(days: number): { cert: Buffer; key: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), 'accounts-certificate-'));
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', String(days)];
  spawnSync('openssl', ['req', '-x509', ...kind, ...name, '-out', cert, '-keyout', key]);
  const made = { cert: readFileSync(cert), key: readFileSync(key) };
  rmSync(folder, { recursive: true });
  return made;
}

describe('why', () => {
  it('says that a number has no account, and that nothing holds its codes back', async () => {
    const told = await admin('why', [e164(newPhone())]);
    expect(rowsOf(told, 'account')[0]).toMatchObject({ account: 'none', country: 'GB' });
    expect(linesOf(told, 'codes')).toContain('nothing here holds codes back now');
    expect(linesOf(told, 'logins')).toContain('must register first');
    expect(linesOf(told, 'logins')).not.toContain('was closed');
  });

  it('says that the account of a number was closed', async () => {
    const ann = await registerAndSignIn(app);
    expect((await post(ann.agent, '/user/close_account', { password: ann.password })).body).toEqual({ code: 200 });
    const logins = linesOf(await admin('why', [e164(ann)]), 'logins');
    expect(logins).toMatch(
      new RegExp(`^the account ${ann.id}, of this number or of one with these digits, was closed at 20.*Z`),
    );
    expect(logins).toContain('must register first');
  });

  it('says by which ways codes go, and which channels no way of the route has', async () => {
    const routes = join(mkdtempSync(join(tmpdir(), 'accounts-routes-')), 'routes.json');
    writeFileSync(routes, JSON.stringify({ routes: { GB: ['console sms', { 'file voice': 1 }] } }));
    const told = await admin('why', [e164(newPhone())], {}, { env: { SMS_ROUTES: routes } });
    expect(linesOf(told, 'codes')).toContain(
      'codes go by console sms, file voice (route of GB); no way leads there by whatsapp, telegram: ' +
        'an app that asks for these is refused (channel_not_served)',
    );
    expect(linesOf(await admin('why', [e164(newPhone())]), 'codes')).toMatch(/^codes go by .* \(route of \*\)$/m);
  });

  it('names the limit that holds a code back, and when it ends; --fix lifts it, and --dry-run does not', async () => {
    const phone = newPhone();
    const send = () => post(app.api, '/user/send_code', phone);
    await send();
    expect(reasonOf(await send())).toBe('too_soon');
    const number = e164(phone);
    expect(linesOf(await admin('why', [number]), 'codes')).toMatch(/resend is used up \(1 of 1\), until 20/);
    expect(linesOf(await admin('why', [number], { fix: true, dryRun: true }), 'lifted')).toBe('would lift resend');
    expect(reasonOf(await send())).toBe('too_soon');
    expect(linesOf(await admin('why', [number], { fix: true }), 'lifted')).toBe('lifted resend');
    expect((await send()).body).toEqual({ code: 200 });
    expect(await noted(app)).toMatchObject({
      detail: `why +447…${number.slice(-2)}, by olga`,
      user_agent: 'operator olga',
    });
  });

  it('tells what the provider answered', async () => {
    const phone = newPhone();
    app.sms.before = () => Promise.reject(new Error('out of credit'));
    await post(app.api, '/user/send_code', phone);
    app.sms.before = () => Promise.resolve();
    const title = `last events of numbers like ${masked(e164(phone))}`;
    const events = rowsOf(await admin('why', [e164(phone)]), title);
    expect(events[0]).toMatchObject({ event: 'code_refused', detail: 'the provider failed' });
  });

  it('names the limit that locks an owner out, and lifts it', async () => {
    const ann = await insertPerson(app);
    const { region, phone, password } = ann;
    const wrong = () => post(app.api, '/user/login', { region, phone, password: `${password}no` });
    for (let count = 0; count < 3; count += 1) await wrong();
    expectRefusal(await wrong(), 429);
    expect(linesOf(await admin('why', [e164(ann)]), 'logins')).toContain(
      'login_failures_pa is used up (3 of 3) from 127.0.0.1',
    );
    await admin('why', [e164(ann)], { fix: true });
    // An instance remembers for a moment that the limit was used up.
    await until(async () => (await post(app.api, '/user/login', { region, phone, password })).status === 200);
  });

  it('says that an account has no password', async () => {
    const ann = await insertPerson(app);
    await app.db('users').where({ id: ann.id }).update({ password_hash: '' });
    expect(linesOf(await admin('why', [e164(ann)]), 'logins')).toContain('the account has no password');
    expect(rowsOf(await admin('users show', [ann.id]), 'user')[0]).toMatchObject({ password: 'none' });
  });

  it('changes nothing without --fix, and leaves no row in the audit trail', async () => {
    const before = await app.db('security_events').where({ event: 'operator' }).count();
    await admin('why', [e164(newPhone())]);
    expect(await app.db('security_events').where({ event: 'operator' }).count()).toEqual(before);
  });
});

describe('users and sessions', () => {
  it('shows an account by its phone and by its id', async () => {
    const ann = await registerAndSignIn(app);
    for (const who of [ann.id, e164(ann)])
      expect(rowsOf(await admin('users show', [who]), 'user')[0]).toMatchObject({
        id: ann.id,
        state: 'open',
        sessions: 1,
      });
  });

  // guard admin-1: a change by an operator is in the audit trail, with the name
  // src/admin/perform.ts
  // - if (!isChange) return command.run(context, input);
  // + return command.run(context, input);
  // guard admin-2: with --dry-run no session ends
  // src/admin/sessions-commands.ts
  // - of options.dryRun ? [] : ended)
  // + of ended)
  it('lists the sessions of a user and ends one, then all; the audit trail names the operator', async () => {
    const ann = await registerAndSignIn(app);
    const other = await signIn(app, ann);
    const [newest] = rowsOf(await admin('sessions list', [ann.id]), 'sessions');
    expect(rowsOf(await admin('sessions end', [ann.id], { dryRun: true }), 'would end')).toHaveLength(2);
    await admin('sessions end', [ann.id, String(newest?.id)]);
    expectRefusal(await post(other.agent, '/user/sessions'), 401);
    expect((await post(ann.agent, '/user/sessions')).status).toBe(200);
    expect(rowsOf(await admin('sessions end', [ann.id]), 'ended')).toHaveLength(1);
    expectRefusal(await post(ann.agent, '/user/sessions'), 401);
    expect(await noted(app)).toMatchObject({ detail: `sessions end ${ann.id}, by olga` });
    const found = rowsOf(await admin('audit search', [ann.id]), 'events');
    expect(found.slice(0, 2)).toMatchObject([
      { event: 'operator' },
      { event: 'sessions_ended', detail: 'one, by end_session' },
    ]);
  });
});

describe('limits, the audit trail, money and the database', () => {
  it('shows limits that are used up, and clears those of a phone', async () => {
    const phone = newPhone();
    const send = () => post(app.api, '/user/send_code', phone);
    await send();
    const used = rowsOf(await admin('limits top'), 'limits').filter(({ subject }) => subject === e164(phone));
    expect(used).toMatchObject([{ limit: 'resend', used: 1, amount: 1 }]);
    await admin('limits clear', [e164(phone)]);
    expect((await send()).body).toEqual({ code: 200 });
  });

  it('shows the newest events of one kind', async () => {
    await post(app.api, '/user/send_code', newPhone());
    const events = rowsOf(await admin('audit tail', ['code_sent']), 'events');
    expect(events.length).toBeGreaterThan(0);
    expect(new Set(events.map(({ event }) => event))).toEqual(new Set(['code_sent']));
  });

  it('shows the codes of a day by country, beside the budget', async () => {
    await post(app.api, '/user/send_code', newPhone());
    const told = await admin('spend today');
    expect(rowsOf(told, 'codes')[0]).toMatchObject({ region: 'GB' });
    expect(linesOf(told, 'budget')).toMatch(/^\d+ of 100 messages, notices included/);
  });

  it('shows the codes of some days by country, and the share that was verified', async () => {
    const [slot, old] = ['now()', "now() - interval '10 days'"].map((at) => app.db.raw(`sms_traffic_slot(${at})`));
    await app.db('sms_traffic').insert([
      { region: 'FR', slot, sent: 8, verified: 6 },
      { region: 'FR', slot: old, sent: 2, verified: 0 },
    ]);
    const french = async (...days: string[]) =>
      rowsOf(await admin('spend by-country', days), 'codes').find(({ region }) => region === 'FR');
    expect(await french()).toEqual({ region: 'FR', sent: 8, verified: 6, share: '75 %' });
    expect(await french('15')).toEqual({ region: 'FR', sent: 10, verified: 6, share: '60 %' });
  });

  it('shows what the database is', async () => {
    const [status] = rowsOf(await admin('db status'), 'database');
    expect(Object.keys(status ?? {})).toContain('oldest transaction, s');
  });

  // guard admin-3: a command does not run on the database of a newer version
  // src/admin/perform.ts
  // - if (unknown.length > 0)
  // + if (unknown.length < 0)
  it('refuses the database of a newer version, and names what it does not know', async () => {
    await app.db('knex_migrations').insert({ name: '9999_newer', batch: 99, migration_time: app.db.fn.now() });
    await expect(admin('db status')).rejects.toThrow(/does not know \(9999_newer\): use the command line of the newer/);
    await app.db('knex_migrations').where({ name: '9999_newer' }).delete();
  });
});

describe('doctor', () => {
  const findings = async (env: Env = {}): Promise<Record<string, string>> => {
    const found = rowsOf(await admin('doctor', [], {}, { env }), 'doctor');
    return Object.fromEntries(found.map(({ check, state, finding }) => [String(check), String(finding ?? state)]));
  };

  const row = async (check: string, env: Env = {}): Promise<Row | undefined> =>
    rowsOf(await admin('doctor', [], {}, { env }), 'doctor').find((one) => one.check === check);

  it('is content with what is well, and says what is not', async () => {
    expect(await findings()).toMatchObject({
      settings: expect.stringContaining('NODE_ENV is not production') as string,
      secrets: 'ok',
      'database version': 'ok',
      'database rights': 'ok',
      clock: 'ok',
      disk: 'ok',
      'addresses of clients': 'ok',
      'SMS provider': 'ok',
      'SMS credit': 'ok',
    });
  });

  itOnOneServer('notices a transaction of another role that goes on writing', async () => {
    const pending = await app.db.transaction();
    await pending.raw('SELECT pg_current_xact_id()');
    await app.db.raw('SELECT pg_current_xact_id()');
    try {
      // Until then, the oldest transaction may be that of another test.
      await until(async () => (await row('oldest transaction'))?.state === 'LOOK');
      expect(await row('oldest transaction')).toMatchObject({
        state: 'LOOK',
        finding: expect.stringMatching(/^it has been open for 5 s or more/) as string,
      });
    } finally {
      await pending.rollback();
    }
    // Other tests write in the same cluster, but not for long.
    await until(async () => (await row('oldest transaction'))?.state === 'ok');
  });

  it('finds secrets that can be guessed, which is no more than a hint in development', async () => {
    const weak = {
      DATABASE_URL: 'postgresql://accounts:accounts@127.0.0.1/accounts',
      SESSION_SECRETS: 'ab'.repeat(20),
    };
    const guessable =
      'SESSION_SECRETS and the password of DATABASE_URL can be guessed: openssl rand -hex 32 makes another';
    expect(await row('secrets', weak)).toMatchObject({ state: 'ok', finding: guessable });
    const away = 'https://127.0.0.1:1';
    const production = { ...productionEnv(), PUBLIC_URL: away, TWILIO_API_URL: away };
    expect(await row('secrets', production)).toMatchObject({ state: 'ok' });
    expect(await row('secrets', { ...production, DATABASE_URL: weak.DATABASE_URL })).toMatchObject({
      state: 'LOOK',
      finding: expect.stringMatching(/^the password of DATABASE_URL can be guessed/) as string,
    });
  });

  it('lists test numbers, masked and without their codes, and finds those that have no effect', async () => {
    const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const [free, ended, taken] = [newPhone(), newPhone(), await insertPerson(app)];
    const code = rememberSecret('718281');
    const entry = (phone: PhoneFields, days: number) => `${e164(phone)}=${code}@${day(days)}`;
    expect(await row('test numbers')).toMatchObject({ state: 'ok', finding: undefined });
    const good = `+447…${e164(free).slice(-2)} takes a fixed code, and is sent none, until ${day(1)}`;
    expect(await row('test numbers', { TEST_NUMBERS: entry(free, 1) })).toMatchObject({ state: 'ok', finding: good });
    const TEST_NUMBERS = [entry(free, 1), entry(ended, -2), entry(taken, 1)].join();
    const finding = String((await row('test numbers', { TEST_NUMBERS }))?.finding);
    expect(finding).toMatch(
      / takes a fixed code.*; \+447…\d\d was a test number until .*; \+447…\d\d is not taken as /,
    );
    expect(await row('test numbers', { TEST_NUMBERS })).toMatchObject({ state: 'LOOK' });
    const told = await admin('why', [e164(free)], {}, { env: { TEST_NUMBERS } });
    expect(linesOf(told, 'codes')).toContain('it is a test number: nothing is sent to it');
  });

  it('tells the age of the newest backup, and notices that there is none of the last night', async () => {
    const backedUp = (hours: number) =>
      app.db('security_events').insert({
        at: app.db.raw(`now() - ${hours} * interval '1 hour'`),
        event: 'backed_up',
        ip: '',
        user_agent: '',
        request_id: '',
      });
    expect(await row('backups')).toMatchObject({
      state: 'LOOK',
      finding: expect.stringMatching(/^no backup by/) as string,
    });
    await backedUp(30);
    expect(await row('backups')).toMatchObject({
      state: 'LOOK',
      finding: expect.stringMatching(/^the newest is 30.0 h/) as string,
    });
    await backedUp(3);
    expect(await row('backups')).toMatchObject({ state: 'ok', finding: 'the newest is 3.0 h old' });
  });

  it('asks Twilio for its credit', async () => {
    const twilio = await startTwilioStandIn();
    const env = {
      SMS_PROVIDER: 'twilio',
      TWILIO_ACCOUNT_SID: twilio.accountSid,
      TWILIO_AUTH_TOKEN: twilio.authToken,
      TWILIO_FROM: '+15005550006',
      TWILIO_API_URL: twilio.url,
    };
    const credit = () => row('SMS credit', env);
    expect(await credit()).toMatchObject({ state: 'ok', finding: 'twilio 12.35 USD' });
    twilio.leave('0.00');
    expect(await credit()).toMatchObject({
      state: 'LOOK',
      finding: 'twilio 0.00 USD: pay the provider, or no code is sent',
    });
    twilio.leave('4.99');
    const less = 'at 0.05 a message that is less than a day, which may have 100 messages (SEND_CODE_PER_DAY)';
    expect(await credit()).toMatchObject({
      state: 'LOOK',
      finding: `twilio 4.99 USD: ${less}: pay the provider before it ends`,
    });
    twilio.leave('5.00');
    expect(await credit()).toMatchObject({ state: 'ok' });
    twilio.behave({ status: 401, code: 20003 });
    expect(await credit()).toMatchObject({
      state: 'LOOK',
      finding:
        "Twilio did not tell its balance (HTTP status 401, code 20003): check the provider's keys in the settings, and its status page",
    });
    await twilio.close();
  });

  (hasOpenssl ? it : it.skip)(
    'looks at the certificate from outside: its days, and whether it is trusted',
    async () => {
      const told = async (days: number, isTrusted: boolean) => {
        const made = certificate(days);
        const server = createServer(made, (_req, res) => res.end()).listen(0, '127.0.0.1');
        await once(server, 'listening');
        const { port } = server.address() as AddressInfo;
        if (isTrusted) globalAgent.options.ca = made.cert;
        const found = await row('certificate', { PUBLIC_URL: `https://localhost:${port}` });
        delete globalAgent.options.ca;
        server.closeAllConnections();
        server.close();
        return [found?.state, found?.finding];
      };
      expect(await told(30, true)).toEqual(['ok', 'it ends in 29 days']);
      expect(await told(10, true)).toEqual(['LOOK', expect.stringMatching(/^it ends in 9 days: find out why/)]);
      expect(await told(30, false)).toEqual(['LOOK', expect.stringMatching(/^self-signed certificate/)]);
    },
  );

  it('notices a proxy that lets clients choose their address', async () => {
    const limited = { PAGE_KIB_PER_IP_HOUR: '100000' };
    for (const [TRUST_PROXY, state] of [
      ['none', 'ok'],
      ['1', 'LOOK'],
    ] as const) {
      const proxied = await startApp({ ...limited, TRUST_PROXY }, { databaseUrl: app.databaseUrl });
      const found = await row('headers of the proxy', { ...limited, PUBLIC_URL: proxied.url });
      expect({ TRUST_PROXY, state: found?.state }).toEqual({ TRUST_PROXY, state });
      await proxied.close();
    }
    expect(await row('headers of the proxy')).toMatchObject({
      state: 'ok',
      finding: expect.stringContaining('not tried') as string,
    });
  });

  it('notices a role that may do more than the service needs', async () => {
    const asOwner = { on: { ...app, databaseUrl: app.ownerUrl }, env: { DATABASE_URL: app.ownerUrl } };
    expect(asText(await admin('doctor', [], {}, asOwner))).toMatch(
      /database rights +LOOK +the role of DATABASE_URL may/,
    );
  });

  it('tells once that the name of the public address is not known, and what to do', async () => {
    const told = rowsOf(await admin('doctor', [], {}, { env: { PUBLIC_URL: 'https://nobody.invalid' } }), 'doctor');
    const about = told.filter(({ finding }) => /DNS|not reached/.test(String(finding)));
    expect(about.map(({ check, state }) => [check, state])).toEqual([
      ['public address', 'LOOK'],
      ['certificate', 'ok'],
    ]);
    expect(about[0]?.finding).toMatch(/^the DNS of this machine does not (know its name|answer): set PUBLIC_URL to /);
  });

  it('tells of a folder that does not exist here, and what to do', async () => {
    const { SESSION_SECRETS = '', MESSAGING_JWT_KEY = '' } = productionEnv();
    const env = { SESSION_SECRETS, MESSAGING_JWT_KEY, DATA_DIR: join(app.dataDir, 'none') };
    expect(await row('disk', env)).toMatchObject({
      state: 'LOOK',
      finding:
        'the folder does not exist on this machine: run doctor where the service runs, which makes DATA_DIR at its start',
    });
  });

  it('notices that another program answers at the public address', async () => {
    const other = await startVendorServer(200, () => ({ status: 200, json: { hello: 'world' } }));
    expect(await row('public address', { PUBLIC_URL: other.url })).toMatchObject({
      state: 'LOOK',
      finding: expect.stringMatching(/readyz answers 200, and it is another program: PUBLIC_URL must be /) as string,
    });
    await other.close();
  });

  it('asks the public address, and tells that it is not reached', async () => {
    expect(await findings({ PUBLIC_URL: app.url })).toMatchObject({ 'public address': 'ok' });
    expect(await findings({ PUBLIC_URL: `${app.url}/elsewhere` })).toMatchObject({
      'public address': expect.stringContaining('/elsewhere/readyz answers 404') as string,
    });
  });

  it('notices that all users have one address', async () => {
    const logins = Array.from({ length: 60 }, (_, index) => ({
      event: 'logged_in',
      user_id: `user${index % 12}`,
      ip: '10.0.0.1',
      user_agent: '',
      request_id: '',
    }));
    const others = await startApp(ENV);
    await others.db('security_events').insert(logins);
    const told = await admin('doctor', [], {}, { on: others });
    expect(asText(told)).toMatch(/addresses of clients +LOOK +12 users have one address: TRUST_PROXY/);
    await others.close();
  });

  it('notices messages that fail', async () => {
    const failed = { event: 'code_refused', detail: 'the provider failed', ip: '', user_agent: '', request_id: '' };
    await app.db('security_events').insert(Array<object>(100).fill(failed));
    expect((await findings())['SMS provider']).toMatch(/^10\d messages failed in the last day/);
  });
});

describe('a mistake', () => {
  it.each([
    ['why', ['07911123456'], 'is not a phone number'],
    ['why', ['+44'], 'is not a phone number'],
    ['users show', ['nobody-has-this'], 'no account has this id'],
    ['users show', ['+447400000000'], 'no account has this phone'],
    ['spend by-country', ['seven'], 'seven: is not a number of days from 1 to 15'],
    ['spend by-country', ['16'], '16: is not a number of days from 1 to 15'],
  ])('in %s %j is told in a sentence', async (name, words, message) => {
    await expect(admin(name, words)).rejects.toThrow(message);
  });
});

it('an answer for a terminal has one line for each row, whatever a client sent as its name', () => {
  const told = asText({
    events: [
      { event: 'logged_in', agent: 'a\nb\u001b[2J' },
      { event: 'x', agent: null },
    ],
    none: [],
  });
  expect(told).toBe('events\n  event      agent\n  logged_in  a?b?[2J\n  x\n\nnone\n  none');
});

// guard admin-4: JSON for a terminal has no control characters or overrides of clients
// src/admin/as-text.ts
// - one === '\n' ? one : escaped(one)
// + one
it('an answer in JSON changes nothing in a terminal, and is the same text to a program', () => {
  const parts = {
    sessions: [{ agent: 'x\u009b31m\u009d0;owned\u009c \u202e \u2028 \u007f \u001b[2J', name: 'é😀\n' }],
  };
  const told = asJson(parts);
  expect(told).not.toMatch(/[^\P{Cc}\n]|[\p{Zl}\p{Zp}\p{Bidi_C}]/u);
  expect(told).toContain('é😀');
  expect(JSON.parse(told)).toEqual(parts);
});
