import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sendRaw } from '../../support/calls';
import { field } from '../../support/people';
import { productionEnv } from '../../support/production';
import { ROOT } from '../../support/service-process';
import { stage } from '../../support/stage';

const kept = JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8')) as Record<string, unknown>;

describe('GET /openapi.json', () => {
  const { app, instance } = stage({ env: { CORS_ORIGINS: 'https://web.example.com' } });

  // guard openapi-2: the served document names the address of its service
  // src/http/openapi-router.ts
  // - servers: [{ url }],
  it('is docs/openapi.json with the address of this service, for everybody', async () => {
    const answer = await sendRaw(app, '/openapi.json', { method: 'GET' });
    expect(answer).toMatchObject({
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'public, max-age=300' },
    });
    const externalDocs = { description: 'A page to try the service on.', url: `${app.url}/docs` };
    expect(answer.body).toEqual({ ...kept, externalDocs, servers: [{ url: app.url }] });
  });

  it('is also available as OpenAPI 3.0', async () => {
    const answer = await sendRaw(app, '/openapi-3.0.json', { method: 'GET' });
    expect(answer).toMatchObject({ status: 200, body: { openapi: '3.0.3', servers: [{ url: app.url }] } });
    expect(field(answer.body, 'paths')).toHaveProperty(['/user/login', 'post', 'operationId'], 'userLogin');
  });

  it('is readable by pages of allowed origins, like other answers', async () => {
    const headers = { Origin: 'https://web.example.com' };
    const answer = await sendRaw(app, '/openapi.json', { method: 'GET', headers });
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': 'https://web.example.com',
      vary: 'Origin, Accept-Encoding',
    });
  });

  it('also answers HEAD', async () => {
    const { status, headers, body } = await sendRaw(app, '/openapi.json', { method: 'HEAD' });
    expect({ status, body, type: headers['content-type'] }).toEqual({
      status: 200,
      body: '',
      type: 'application/json; charset=utf-8',
    });
  });

  // guard openapi-1: the served document names the session cookie of production
  // src/http/openapi-router.ts
  // - cookieName('sid', production)
  // + cookieName('sid', false)
  it('has the public address and the cookie name in production', async () => {
    const settings = { ...productionEnv(), DOCS_PAGE: 'off' };
    const production = await instance(settings);
    const { body } = await sendRaw(production, '/openapi.json', { method: 'GET' });
    expect(body).toMatchObject({
      servers: [{ url: 'https://accounts.example.com' }],
      components: { securitySchemes: { sid: { in: 'cookie', name: '__Host-sid' } } },
    });
    // It would lead to the page, which is turned off.
    expect(body).not.toHaveProperty('externalDocs');
  });
});
