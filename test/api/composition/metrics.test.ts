import { once } from 'node:events';
import type { Server } from 'node:http';
import { silent } from '../../support/silent';
import { loadConfig } from '../../../src/config/config';
import { Metrics } from '../../../src/composition/metrics';
import { buildServices } from '../../../src/composition/services';
import { createMetricsServer } from '../../../src/http/metrics-server';
import { QUEUES } from '../../../src/load/queues';
import { loadKeys } from '../../../src/start/keys';
import request from 'supertest';
import { post, sendRaw } from '../../support/calls';
import { multipartForm, PNG } from '../../support/images';
import { e164, field, newPhone } from '../../support/people';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';
import { until } from '../../support/until';

const metrics = new Metrics();
const { app, ann } = stage({ env: { SEND_CODE_PER_DAY: '100' }, metrics, people: 1, peopleOnce: true });
let server: Server;
beforeAll(async () => {
  server = createMetricsServer(metrics, 'metrics.example.com').listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => void server.close());

/** Returns the value of a series, written as Prometheus shows it; 0 if there is none. */
async function valueOf(series: string): Promise<number> {
  const line = (await metrics.text()).split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? 0 : Number(line.slice(series.length));
}

/** Returns by how much each series rises while `work` runs. */
async function risesOf(series: string[], work: () => Promise<unknown>): Promise<number[]> {
  const values = () => Promise.all(series.map(valueOf));
  const before = await values();
  await work();
  return (await values()).map((value, place) => value - (before[place] ?? 0));
}

describe('metrics', () => {
  it('count requests by operation and outcome, and refusals by reason', async () => {
    const { region, phone } = ann;
    const wrong = () => post(app.api, '/user/login', { region, phone, password: `${ann.password}no` });
    const series = [
      'accounts_request_duration_seconds_count{operation="/user/login",outcome="refused"}',
      'accounts_request_duration_seconds_count{operation="/user/login",outcome="ok"}',
      'accounts_refusals_total{reason="wrong_credentials"}',
    ];
    expect(await risesOf(series, wrong)).toEqual([1, 0, 1]);
  });

  it('count a request that the client has left as aborted', async () => {
    const series = 'accounts_request_duration_seconds_count{operation="/user/get_token",outcome="aborted"}';
    let arrived: () => void = () => undefined;
    const left = new Promise<void>((resolve) => (arrived = resolve));
    const answer = new Promise<void>((resolve) => {
      app.beforeOperation = () => {
        arrived();
        return new Promise((goOn) => setImmediate(() => goOn(resolve())));
      };
    });
    const asking = ann.agent.post('/user/get_token');
    const gone = asking.then(
      () => undefined,
      () => undefined,
    );
    await left;
    asking.abort();
    app.beforeOperation = () => Promise.resolve();
    await Promise.all([gone, answer]);
    await until(async () => (await valueOf(series)) > 0);
  });

  it('count an unknown path under the operation "none"', async () => {
    const series = 'accounts_request_duration_seconds_count{operation="none",outcome="refused"}';
    expect(await risesOf([series], () => post(app.api, `/no/such/path/${ann.id}`))).toEqual([1]);
  });

  it('count sent codes and messages, and the limit that refuses one', async () => {
    const phone = newPhone();
    const send = () => post(app.api, '/user/send_code', phone);
    const sent = 'accounts_messages_total{provider="console",outcome="sent"}';
    const met = 'accounts_limit_refusals_total{limit="resend"}';
    expect(await risesOf([sent, met], () => send().then(send))).toEqual([1, 1]);
  });

  it('count messages that the provider refuses', async () => {
    app.sms.before = () => Promise.reject(new Error('out of credit'));
    const failed = 'accounts_messages_total{provider="console",outcome="failed"}';
    const sms = { ...newPhone(), channel: 'sms' };
    expect(await risesOf([failed], () => post(app.api, '/user/send_code', sms))).toEqual([1]);
    app.sms.before = () => Promise.resolve();
  });

  it('count captchas and verdicts', async () => {
    const wrong = async () => {
      const { body } = await post(app.api, '/user/get_sms_img_code');
      const { verifyId } = (body as { result: { verifyId: string } }).result;
      await post(app.api, '/user/send_code', { ...newPhone(), verifyId, verifyCode: 'wrong' });
    };
    const results = ['made', 'wrong'].map((result) => `accounts_captchas_total{result="${result}"}`);
    expect(await risesOf(results, wrong)).toEqual([1, 1]);
  });

  it('count images that are stored, and refused uploads by reason', async () => {
    const { body: answer } = await post(ann.agent, '/user/get_image_token');
    const token = rememberSecret(String(field(field(answer, 'result'), 'token')));
    const upload = async (file: Buffer) => {
      const { headers, body } = multipartForm([
        ['token', token],
        ['file', file],
      ]);
      await fetch(app.url, { method: 'POST', headers, body: new Uint8Array(body) });
    };
    const series = ['stored', 'not_an_image', 'no_such_image'].map(
      (result) => `accounts_uploads_total{result="${result}"}`,
    );
    const work = async () => {
      await upload(PNG);
      await upload(Buffer.from('no picture'));
      await sendRaw(app, `/files/${ann.id}/none.png`, { method: 'GET' });
    };
    expect(await risesOf(series, work)).toEqual([1, 1, 0]);
  });

  // guard metrics-2: the first count of what an alert watches is a rise, which the alert sees
  // src/base/tally.ts
  // - new Map([...names].map((name) => [name, 0]))
  // + new Map([...names].slice(0, 0).map((name) => [name, 0]))
  it('show from the start, with 0, each series whose rise is an alert', async () => {
    const config = loadConfig({ DATA_DIR: app.dataDir });
    const fresh = new Metrics();
    const outside = { databaseUrl: app.databaseUrl, keys: loadKeys(config), logger: silent };
    const services = await buildServices(config, outside);
    fresh.watch(services);
    const text = await fresh.text();
    await services.parts.close();
    for (const series of [
      'accounts_limit_refusals_total{limit="send_in_all"}',
      'accounts_messages_total{provider="console",outcome="failed"}',
      'accounts_spend_guard_decisions_total{window="quarter_hour",decision="refused"}',
      'accounts_audit_missing_events_total{event="login_failed"}',
      'accounts_sweeps_total{sweep="limits",outcome="failed"}',
    ])
      expect(text).toContain(`${series} 0\n`);
  });

  it('count security events that cannot be written, also those that are written after the answer', async () => {
    const { region, phone, password } = ann;
    const [sent, failed] = ['code_sent', 'login_failed'].map(
      (event) => `accounts_audit_missing_events_total{event="${event}"}`,
    ) as [string, string];
    const before = await Promise.all([valueOf(sent), valueOf(failed)]);
    await app.db.raw('ALTER TABLE security_events RENAME TO no_security_events');
    try {
      await post(app.api, '/user/send_code', newPhone());
      await post(app.api, '/user/login', { region, phone, password: `${password}no` });
      await until(async () => (await valueOf(failed)) > before[1]);
      expect(await valueOf(sent)).toBe(before[0] + 1);
    } finally {
      await app.db.raw('ALTER TABLE no_security_events RENAME TO security_events');
    }
  });

  it('count the rounds of each clean-up', async () => {
    const done = 'accounts_sweeps_total{sweep="limits",outcome="done"}';
    expect(await risesOf([done], () => app.sweep())).toEqual([1]);
  });

  it('have names that say their unit, and _total only where they count', () => {
    const units = { counter: /_total$/, gauge: /(?<!_total)$/, histogram: /_(seconds|characters)$/ };
    const wrong = metrics.described().filter(({ name, type }) => !units[type as keyof typeof units].test(name));
    expect(wrong).toEqual([]);
    expect(metrics.described().length).toBeGreaterThan(20);
  });

  it('show each queue of src/load/queues.ts', async () => {
    const text = await metrics.text();
    for (const queue of Object.keys(QUEUES)) expect(text).toContain(`accounts_queue_running_jobs{queue="${queue}"} `);
  });

  it('show the length of a sync, the time of statements, and that the database is ready', async () => {
    await post(ann.agent, '/user/sync/0');
    expect(await valueOf('accounts_streamed_answer_characters_count{operation="/user/sync/:version"}')).toBe(1);
    expect(await valueOf('accounts_statement_duration_seconds_count{connections="sync"}')).toBeGreaterThan(0);
    expect(await valueOf('accounts_database_ready')).toBe(1);
  });

  it('show the age of a transaction that holds back syncs', async () => {
    const pending = await app.db.transaction();
    await pending('users').where({ id: ann.id }).update({ nickname: 'Anna' });
    // A newer transaction, which is held back.
    await app.db.raw('SELECT pg_current_xact_id()');
    const age = () => valueOf('accounts_sync_horizon_age_seconds');
    // A transaction of another test in the same cluster may be older for a moment.
    await until(async () => (await age()) > 0.05);
    await pending.rollback();
    const ended = performance.now();
    // However long PostgreSQL has been running. Other tests write in the same cluster, but not forever.
    await until(async () => (await age()) < (performance.now() - ended) / 1_000);
  });

  it('show codes of the last day once they are judged, and how many were verified', async () => {
    await app.db('sms_traffic').insert([
      { region: 'FR', slot: app.db.raw(`now() - interval '1 hour'`), sent: 40, verified: 30 },
      { region: 'TV', slot: app.db.raw(`now() - interval '1 hour'`), sent: 4, verified: 0 },
    ]);
    expect(await valueOf('accounts_codes_last_day{regions="proven",result="verified"}')).toBe(30);
    expect(await valueOf('accounts_codes_last_day{regions="others",result="sent"}')).toBe(4);
  });

  // guard metrics-1: metrics have routes as labels, not paths, which have ids and phones in them
  // src/http/request-log.ts
  // - operation: route,
  // + operation: req.originalUrl,
  it('name no user, phone, session or address', async () => {
    const { agent, id, region, phone } = ann;
    for (const path of [id, `find/${region}/${phone}`, `no/such/${id}`]) await post(agent, `/user/${path}`);
    const text = await metrics.text();
    for (const private_ of [ann.id, String(ann.phone), e164(ann), '127.0.0.1']) expect(text).not.toContain(private_);
  });

  it('are still shown while the database is away', async () => {
    const config = loadConfig({ DATA_DIR: app.dataDir });
    const away = new Metrics();
    const services = await buildServices(config, {
      databaseUrl: 'postgresql://service@127.0.0.1:1/nothing',
      keys: loadKeys(config),
      logger: silent,
    });
    away.watch(services);
    const text = await away.text();
    expect(text).toContain('accounts_database_ready 0');
    expect(text).toContain('accounts_queue_running_jobs{queue="hashing"} 0');
    expect(text).not.toMatch(/^accounts_sync_horizon_age_seconds /m);
    await services.parts.close();
  });
});

describe('the server of metrics', () => {
  it('answers GET /metrics, and nothing else', async () => {
    const shown = await request(server).get('/metrics');
    expect([shown.status, shown.headers['content-type']]).toEqual([200, metrics.contentType]);
    expect(shown.text).toContain('# TYPE accounts_request_duration_seconds histogram');
    expect((await request(server).post('/metrics')).status).toBe(405);
    expect((await request(server).get('/user/login')).status).toBe(404);
  });

  // guard metrics-3: a page in an operator's browser does not read the metrics by a name that leads here
  // src/http/metrics-server.ts
  // - !isOwn(req.headers.host, host)
  // + false
  it.each([
    ['127.0.0.1:9464', 200],
    ['[::1]:9464', 200],
    ['localhost:9464', 200],
    ['service:9464', 200],
    ['accounts.default.svc:9464', 200],
    ['Metrics.example.com', 200],
    ['evil.example', 403],
    ['127.0.0.1.evil.example:9464', 403],
  ])('under the Host %s answers %i', async (host, status) => {
    expect((await request(server).get('/metrics').set('Host', host)).status).toBe(status);
  });

  it('is not reached by the public port', async () => {
    expect((await sendRaw(app, '/metrics', { method: 'GET' })).status).toBe(404);
  });
});
