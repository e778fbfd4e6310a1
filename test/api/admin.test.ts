import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asText } from '../../src/admin/as-text';
import { COMMANDS } from '../../src/admin/commands';
import { startApp, type Env, type TestApp } from '../support/app';
import { expectRefusal, post, reasonOf } from '../support/calls';
import { command, linesOf, noted, rowsOf } from '../support/operator';
import { e164, insertPerson, newPhone, registerAndSignIn, signIn } from '../support/people';
import { ROOT } from '../support/service-process';
import { until } from '../support/until';

const ENV: Env = { SEND_CODE_PER_DAY: '100', LOGIN_FAILURES_PER_PHONE_AND_IP: '3' };
let app: TestApp;

beforeAll(async () => {
  app = await startApp(ENV);
});

afterAll(async () => {
  await app.close();
});

const admin = (
  name: string,
  words: string[] = [],
  options: Record<string, boolean> = {},
  { on = app, env = {} }: { on?: TestApp; env?: Env } = {},
) => command(on, name, words, options, { ...ENV, ...env });

describe('why', () => {
  it('says that a number has no account, and that nothing holds its codes back', async () => {
    const told = await admin('why', [e164(newPhone())]);
    expect(rowsOf(told, 'account')[0]).toMatchObject({ account: 'none', country: 'GB' });
    expect(linesOf(told, 'codes')).toContain('nothing here holds codes back now');
    expect(linesOf(told, 'logins')).toContain('must register first');
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
    const events = rowsOf(await admin('why', [e164(phone)]), 'last events');
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
    const [event] = rowsOf(await admin('audit search', [ann.id]), 'events');
    expect(event).toMatchObject({ event: 'sessions_ended', detail: 'one, by end_session' });
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
    expect(linesOf(told, 'budget')).toMatch(/^\d+ codes, of 100 a day/);
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

  it('is content with what is well, and says what is not', async () => {
    expect(await findings()).toMatchObject({
      settings: expect.stringContaining('NODE_ENV is not production') as string,
      'database version': 'ok',
      'database rights': 'ok',
      'oldest transaction': 'ok',
      clock: 'ok',
      disk: 'ok',
      'addresses of clients': 'ok',
      'SMS provider': 'ok',
    });
  });

  it('notices a role that may do more than the service needs', async () => {
    const asOwner = { on: { ...app, databaseUrl: app.ownerUrl }, env: { DATABASE_URL: app.ownerUrl } };
    expect(asText(await admin('doctor', [], {}, asOwner))).toMatch(
      /database rights +LOOK +the role of DATABASE_URL may/,
    );
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

it('docs/admin.md has a section for each command, and no other', () => {
  const page = readFileSync(join(ROOT, 'docs/admin.md'), 'utf8');
  const titles = [...page.matchAll(/^## `(.*)`$/gm)].map(([, title]) => title);
  expect(titles).toEqual(COMMANDS.map(({ name, takes }) => `${name} ${takes}`.trim()));
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
