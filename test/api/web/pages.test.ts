import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import request from 'supertest';
import { silent } from '../../support/silent';
import { buildContainer } from '../../../src/composition/container';
import { loadConfig } from '../../../src/config/config';
import { loadKeys } from '../../../src/start/keys';
import { KeptSms, type TestApp } from '../../support/app';
import { expectRefusal, sendRaw } from '../../support/calls';
import { e164, expectOk, field, newPhone } from '../../support/people';
import { productionEnv } from '../../support/production';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';

const INBOX = [
  '/dev',
  '/dev/icon.svg',
  '/dev/messages.mjs',
  '/dev/page.css',
  '/dev/inbox',
  '/dev/inbox.json',
  '/dev/inbox/inbox.mjs',
  '/dev/inbox/messages.mjs',
  '/dev/inbox/page.css',
];
const GET = { method: 'GET' };
const TYPES = { css: 'text/css; charset=utf-8', mjs: 'text/javascript; charset=utf-8', svg: 'image/svg+xml' };
const TWILIO = {
  SMS_PROVIDER: 'twilio',
  TWILIO_ACCOUNT_SID: 'AC0',
  TWILIO_AUTH_TOKEN: 'x'.repeat(32),
  TWILIO_FROM: '+15005550006',
};

const { app, instance } = stage({ env: { CORS_ORIGINS: 'https://web.example.com' } });

async function textOf(path: string, of = app): Promise<string> {
  const { status, body } = await sendRaw(of, path, GET);
  expect(status).toBe(200);
  return String(body);
}

/** Returns the addresses of files that a page names. */
const filesIn = (html: string) =>
  [...html.matchAll(/ (?:src|href)="((?:docs|inbox|dev)\/[^"]+\.\w+)"/g)].map(([, path]) => path ?? '');

const bearer = (of = app) => ({ Authorization: `Bearer ${of.inboxToken}` });

async function sendCode(of = app) {
  const phone = newPhone();
  await expectOk(of.api.post('/user/send_code').send(phone));
  return e164(phone);
}

describe.each(['/docs', '/dev', '/dev/inbox'])('the page %s', (path) => {
  // guard pages-10: the pages have their own policy, which allows only files of the service
  // src/web/page-file.ts
  // - script-src 'self';
  // + script-src 'self' 'unsafe-inline';
  it('runs and shows only files of this service, and cannot be framed', async () => {
    const { headers } = await sendRaw(app, path, GET);
    expect(String(headers['content-security-policy']).split('; ').sort()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self' data:",
      "script-src 'self'",
      "style-src 'self'",
    ]);
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
  });

  it('contains no inline script or style, and all its files exist', async () => {
    const html = await textOf(path);
    expect(html).not.toMatch(/<style|style=|<script>|\son\w+=|https?:/);
    const files = filesIn(html);
    for (const [ending, type] of Object.entries({ ...TYPES, js: TYPES.mjs })) {
      const named = files.filter((file) => file.endsWith(`.${ending}`));
      if (ending !== 'js') expect(named).not.toEqual([]);
      for (const file of named)
        expect(await sendRaw(app, `${path.replace(/\w+$/, '')}${file}`, GET)).toMatchObject({
          status: 200,
          headers: { 'content-type': type },
        });
    }
  });

  it('accepts GET only', async () => expectRefusal(await sendRaw(app, path), 405, 'GET'));
});

describe('GET /docs', () => {
  it('uses addresses that work below any path of a proxy', async () => {
    expect(await textOf('/docs')).not.toMatch(/(src|href)="\//);
    expect(await sendRaw(app, '/docs/', GET)).toMatchObject({ status: 302, headers: { location: '../docs' } });
  });

  it('is shown at the address that the service prints, which also takes uploads', async () => {
    for (const method of ['GET', 'HEAD'])
      expect(await sendRaw(app, '/', { method })).toMatchObject({ status: 302, headers: { location: 'docs' } });
    expect(await sendRaw(app, '/')).toMatchObject({ body: { reason: 'malformed_upload' } });
    expectRefusal(await sendRaw(app, '/', { method: 'PUT' }), 405, 'GET, POST');
  });

  it('is compressed when the client accepts it, and sent again only after a change', async () => {
    const plain = await textOf('/docs/swagger-ui.css');
    const zipped = await fetch(`${app.url}/docs/swagger-ui.css`, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(await zipped.text()).toBe(plain);
    expect(Number(zipped.headers.get('Content-Length'))).toBeLessThan(plain.length / 4);
    expect(zipped.headers.get('Content-Encoding')).toBe('gzip');
    expect(zipped.headers.get('Vary')).toBe('Accept-Encoding');
    expect(zipped.headers.get('Cache-Control')).toBe('no-cache');
    const again = { 'Accept-Encoding': 'gzip', 'If-None-Match': zipped.headers.get('ETag') ?? '' };
    expect(await sendRaw(app, '/docs/swagger-ui.css', { ...GET, headers: again })).toMatchObject({
      status: 304,
      body: '',
    });
  });

  // guard pages-11: the page /docs can be turned off
  // src/composition/pages.ts
  // - docsRouter({ hasInbox: inbox !== undefined }, meter)] : []
  // + docsRouter({ hasInbox: inbox !== undefined }, meter)] : [docsRouter({ hasInbox: false }, meter)]
  it('answers 404 when it is turned off', async () => {
    const off = await instance({ DOCS_PAGE: 'off' });
    for (const path of ['/docs', '/docs/', '/docs/swagger-ui-bundle.js'])
      expectRefusal(await sendRaw(off, path, GET), 404, 'no such path');
    expectRefusal(await sendRaw(off, '/', GET), 405, 'POST');
    await textOf('/dev/inbox', off);
  });

  it('is served in production, without a link to an inbox', async () => {
    expect(await textOf('/docs')).toContain('data-inbox="dev/inbox"');
    const production = await instance(productionEnv());
    expect(await textOf('/docs', production)).toContain('data-inbox=""');
  });
});

describe('the files of /docs and /openapi.json', () => {
  const FILE = '/docs/swagger-ui-bundle.js';
  const from = (of: TestApp, address: string, path: string, more: Record<string, string> = {}) =>
    fetch(`${of.url}${path}`, { headers: { 'X-Forwarded-For': address, 'Accept-Encoding': 'identity', ...more } });

  it('are compressed when the client accepts it', async () => {
    for (const path of ['/openapi.json', '/openapi-3.0.json', FILE]) {
      const [plain, zipped] = await Promise.all([
        from(app, '192.0.2.1', path),
        from(app, '192.0.2.1', path, { 'Accept-Encoding': 'gzip' }),
      ]);
      expect([plain, zipped].map(({ headers }) => headers.get('Content-Encoding'))).toEqual([null, 'gzip']);
      expect(Number(zipped.headers.get('Content-Length'))).toBeLessThan(
        Number(plain.headers.get('Content-Length')) / 3,
      );
      expect(await zipped.text()).toBe(await plain.text());
    }
  });

  // guard pages-4: downloads of the pages and the description are limited per address
  // src/http/shared-text.ts
  // - if (!req.fresh)
  // + if (body.length === 0)
  it('answer 429 to an address that has downloaded its KiB of the hour', async () => {
    const limited = await instance({ TRUST_PROXY: '1', PAGE_KIB_PER_IP_HOUR: '1000' });
    const first = await from(limited, '192.0.2.7', FILE);
    expect([first.status, (await first.arrayBuffer()).byteLength]).toEqual([200, expect.any(Number)]);
    // One file of 1.5 MB has used up all of it.
    for (const path of [FILE, '/docs', '/openapi.json', '/openapi-3.0.json']) {
      const refused = await from(limited, '192.0.2.7', path);
      expect([path, refused.status, refused.headers.get('X-Reason')]).toEqual([path, 429, 'too_many_downloads']);
      expect(refused.headers.get('ETag')).toBeNull();
    }
    const known = { 'X-Forwarded-For': '192.0.2.7', 'If-None-Match': first.headers.get('ETag') ?? '' };
    const askAgain = async (more = {}) => sendRaw(limited, FILE, { ...GET, headers: { ...known, ...more } });
    expect((await askAgain()).status).toBe(304);
    expect((await askAgain({ 'Cache-Control': 'no-cache' })).status).toBe(429);
    expect((await from(limited, '192.0.2.8', '/docs')).status).toBe(200);
  });
});

describe('GET /dev', () => {
  const config = () => loadConfig({ DATA_DIR: app.dataDir });
  const pageOf = async (settings = config()) => {
    const outside = { databaseUrl: app.databaseUrl, keys: loadKeys(settings), logger: silent };
    const metricsUrl = () => 'http://127.0.0.1:9464/metrics';
    const container = await buildContainer(settings, { ...outside, sms: new KeptSms() }, { metricsUrl });
    const { text } = await request(container.app).get('/dev').set('Host', 'localhost');
    await container.close();
    return text;
  };

  it('links the inbox, the docs and the metrics', async () => {
    const html = await pageOf();
    const links = [...html.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, link]) => link);
    expect(links).toEqual(['dev/inbox', 'docs', 'http://127.0.0.1:9464/metrics']);
    expect(html).not.toContain('data-shown=""');
  });

  it('hides the links to what is turned off', async () => {
    expect((await textOf('/dev')).match(/data-shown=""/g)).toHaveLength(1);
    const { http, ...others } = config();
    expect(await pageOf({ ...others, http: { ...http, docsPage: false } })).toContain('data-shown=""');
  });
});

describe('GET /dev/inbox', () => {
  it('shows the messages of this process, the newest first', async () => {
    const [first, second] = [await sendCode(), await sendCode()];
    const { result } = await expectOk(app.api.get('/dev/inbox.json').set(bearer()));
    expect((result as object[]).slice(0, 2)).toEqual(
      [second, first].map((to) => {
        const code = app.sms.codeFor(to);
        return {
          to,
          code,
          body: expect.stringContaining(code) as string,
          at: expect.stringMatching(/^2.+Z$/) as string,
        };
      }),
    );
    const other = await instance();
    const answer = await expectOk(other.api.get('/dev/inbox.json').set(bearer(other)));
    expect(answer).toEqual({ code: 200, result: [] });
  });

  it('is not cached on the way, and leaves no code in the log', async () => {
    const code = app.sms.codeFor(await sendCode());
    const answer = await sendRaw(app, '/dev/inbox.json', { ...GET, headers: bearer() });
    expect(JSON.stringify(answer.body)).toContain(code);
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(JSON.stringify(app.logged())).not.toContain(code);
  });

  // guard pages-5: the inbox of development shows codes only with its token
  // src/web/inbox-router.ts
  // - if (!isSameText(req.get('Authorization') ?? '', `Bearer ${token}`))
  // + if (token.length === 0)
  it('shows no code without the token, for example to visitors of a proxy that sends no headers of its own', async () => {
    const code = app.sms.codeFor(await sendCode());
    // A visitor's request as nginx sends it on with only proxy_pass.
    const proxied = { Host: new URL(app.url).host, 'Sec-Fetch-Site': 'none' };
    const wrong = [`Bearer ${app.inboxToken}x`, `Bearer ${app.inboxToken.slice(1)}`, 'Bearer ', app.inboxToken];
    for (const headers of [proxied, ...wrong.map((Authorization) => ({ ...proxied, Authorization }))])
      for (const path of INBOX) {
        const answer = await sendRaw(app, path, { ...GET, headers });
        expect(JSON.stringify(answer.body)).not.toContain(code);
        if (path === '/dev/inbox.json') expectRefusal(answer, 404, 'the link that the service printed');
      }
  });

  // guard pages-6: the token of the inbox changes at each start
  // src/start/keys.ts
  // - secrets.inboxToken ?? randomBytes(16).toString('base64url')
  // + secrets.inboxToken ?? 'A'.repeat(22)
  it('has a new token at each start, unless one is given', async () => {
    expect(app.inboxToken).toMatch(/^[\w-]{22}$/);
    expect((await instance()).inboxToken).not.toBe(app.inboxToken);
    const INBOX_TOKEN = rememberSecret(randomBytes(8).toString('hex'));
    expect((await instance({ INBOX_TOKEN })).inboxToken).toBe(INBOX_TOKEN);
    expect(() => loadConfig({ INBOX_TOKEN: 'short' })).toThrow('INBOX_TOKEN: must be 16 or more');
  });

  describe.each(INBOX)('%s', (path) => {
    const asked = (headers: Record<string, string>) =>
      sendRaw(app, path, { ...GET, headers: { ...bearer(), ...headers } });

    // guard pages-7: the inbox of development answers only to this machine's own names
    // src/web/own-machine.ts
    // - || !isByOwnName(req) ||
    // + ||
    it.each(['evil.example', 'evil.example:8585', '127.0.0.1.evil.example', 'localhost.evil.example', '192.168.0.7'])(
      'answers 404 under a foreign host name, which may point to this address: %s',
      async (host) => expectRefusal(await asked({ Host: host }), 404, 'localhost'),
    );

    it.each(['localhost', '127.0.0.1', '[::1]', 'LOCALHOST'])('answers under its own host name: %s', async (host) => {
      expect((await asked({ Host: `${host}:${new URL(app.url).port}` })).status).toBe(200);
    });

    // guard pages-8: the inbox of development is hidden from pages of another site
    // src/web/own-machine.ts
    // - (site !== 'same-origin' && site !== 'none')
    // + false
    it.each(['cross-site', 'same-site'])('is hidden from a page of another site: %s', async (site) => {
      expectRefusal(await asked({ 'Sec-Fetch-Site': site }), 404, 'localhost');
    });

    // guard pages-9: the inbox of development is hidden from the origins of CORS_ORIGINS
    // src/web/own-machine.ts
    // - (req.get('Origin') ?? own) !== own ||
    it.each(['https://web.example.com', 'http://localhost:3000', 'null'])(
      'is hidden from a page of another origin, listed or not: %s',
      async (origin) => expectRefusal(await asked({ Origin: origin }), 404, 'localhost'),
    );

    it('is shown to its own page', async () => {
      const own = { 'Sec-Fetch-Site': 'same-origin', Origin: app.url };
      expect((await asked(own)).status).toBe(200);
    });
  });

  it('does not exist in production', async () => {
    const production = await instance(productionEnv());
    for (const path of INBOX) expectRefusal(await sendRaw(production, path, GET), 404, 'no such path');
  });

  // guard pages-1: the inbox of development does not exist in production
  // src/composition/pages.ts
  // - return !production && !sms.reachesPhones && !isBehindProxy;
  // + return !sms.reachesPhones;
  it('does not exist in production, whatever sends the messages', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'accounts-pages-'));
    const loaded = loadConfig({ ...productionEnv(), DATA_DIR: dataDir });
    const config = { ...loaded, sms: { ...loaded.sms, reachesPhones: false } };
    const outside = { databaseUrl: app.databaseUrl, keys: loadKeys(config), logger: silent };
    const container = await buildContainer(config, { ...outside, sms: new KeptSms() });
    try {
      for (const path of INBOX) {
        const answer = await request(container.app).get(path).set('Host', 'localhost');
        expect([answer.status, field(answer.body, 'message')]).toEqual([404, 'no such path']);
      }
    } finally {
      await container.close();
      rmSync(dataDir, { recursive: true });
    }
  });

  // guard pages-2: the inbox of development does not exist where a proxy is configured
  // src/composition/pages.ts
  // - && !isBehindProxy
  it.each([{ TRUST_PROXY: '1' }, { PUBLIC_URL: 'https://accounts.example.com' }])(
    'does not exist where a proxy is configured by %p',
    async (env) => {
      const proxied = await instance(env);
      for (const path of INBOX) expectRefusal(await sendRaw(proxied, path, GET), 404, 'no such path');
    },
  );

  // guard pages-3: the inbox of development does not exist where messages are really sent
  // src/composition/pages.ts
  // - !production && !sms.reachesPhones
  // + !production
  it('does not exist where messages are really sent', async () => {
    const sending = await instance(TWILIO);
    for (const path of INBOX) expectRefusal(await sendRaw(sending, path, GET), 404, 'no such path');
  });
});
