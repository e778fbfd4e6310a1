import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { QiniuImageStorage } from '../../src/integrations/storage/qiniu/image-storage';
import { qiniuUploadRouter } from '../../src/integrations/storage/redirecting-router';
import { PNG } from '../support/images';
import { post, serve, startImageServer, type RunningServer } from '../../packages/image-server/test/image-server';

const storage = new QiniuImageStorage({
  accessKey: 'an-access-key',
  secretKey: 'a-secret-key',
  bucket: 'portraits',
  domain: 'https://images.example.com',
  maxBytes: 5_000_000,
});

const anyString: unknown = expect.any(String);

describe('Qiniu upload token', () => {
  const token = () => storage.uploadToken({ userId: 'user_A-1' }).token;
  const policy = () => {
    const json = Buffer.from(token().split(':')[2] ?? '', 'base64url').toString();
    return z.looseObject({ deadline: z.number() }).parse(JSON.parse(json));
  };

  it('comes with the name and the domain of the storage', () => {
    expect(storage.uploadToken({ userId: 'user_A-1' })).toEqual({
      target: 'qiniu',
      domain: 'https://images.example.com',
      token: anyString,
    });
  });

  it('is signed with the secret key', () => {
    const [accessKey, signature, encodedPolicy = ''] = token().split(':');
    const expected = createHmac('sha1', 'a-secret-key').update(encodedPolicy).digest('base64');
    expect([accessKey, signature]).toEqual(['an-access-key', expected.replaceAll('+', '-').replaceAll('/', '_')]);
  });

  it("allows new images of limited size under the user's prefix, and nothing else", () => {
    const { deadline: _, ...allowed } = policy();
    expect(allowed).toEqual({
      scope: 'portraits:user_A-1/',
      isPrefixalScope: 1,
      insertOnly: 1,
      fsizeLimit: 5_000_000,
      mimeLimit: 'image/png;image/jpeg;image/gif;image/webp',
      detectMime: 1,
      saveKey: 'user_A-1/$(etag)',
      forceSaveKey: false,
      returnBody: '{"key":"$(key)","hash":"$(etag)"}',
    });
  });

  it('lasts ten minutes', () => {
    const left = policy().deadline - Date.now() / 1_000;
    expect(left).toBeGreaterThan(595);
    expect(left).toBeLessThanOrEqual(600);
  });
});

describe("upload to this service's address with Qiniu as the storage", () => {
  const servers: RunningServer[] = [];

  afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

  it('is redirected with its method and body', async () => {
    const server = await serve(qiniuUploadRouter('https://upload.example.com'));
    servers.push(server);
    const response = await fetch(server.url, { method: 'POST', redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([307, 'https://upload.example.com']);
  });

  it.each(['/mkblk/100', '/mkfile/100', '/buckets/local/objects/~/uploads'])(
    'cannot be uploaded in parts: %s',
    async (path) => {
      const server = await serve(qiniuUploadRouter('https://upload.example.com'));
      servers.push(server);
      expect((await fetch(server.url + path, { method: 'POST', redirect: 'manual' })).status).toBe(404);
    },
  );

  it('arrives at the storage when the client follows', async () => {
    const target = await startImageServer();
    const server = await serve(qiniuUploadRouter(target.url));
    servers.push(target, server);
    const { status, json } = await post(server.url, [
      ['token', target.tokenOf('user_A-1')],
      ['key', 'user_A-1/a.png'],
      ['file', PNG],
    ]);
    expect([status, json]).toEqual([200, { key: 'user_A-1/a.png', hash: anyString }]);
  });
});
