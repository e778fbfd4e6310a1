import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { noise, picture, PNG } from '../../support/images';
import { expectOk, field, type SignedInPerson } from '../../support/people';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';
import { until } from '../../support/until';

const UPLOADS = '/buckets/local/objects/~/uploads';
const etag = (bytes: Buffer) =>
  Buffer.concat([Buffer.of(0x16), createHash('sha1').update(bytes).digest()]).toString('base64url');

describe('images uploaded in parts', () => {
  const env = { UPLOADS_PER_USER_HOUR: '3', UPLOAD_BYTES_PER_USER: '2000' };
  const { app, instance, ann } = stage({ env, people: 1 });

  const tokenOf = async ({ agent }: SignedInPerson) =>
    rememberSecret(String(field((await expectOk(agent.post('/user/get_image_token'))).result, 'token')));
  const send = async (token: string, path: string, body: Buffer | string = '', { method = 'POST', at = app } = {}) => {
    const headers = { Authorization: `UpToken ${token}` };
    const bytes = typeof body === 'string' ? body : new Uint8Array(body);
    const response = await fetch(at.url + path, { method, headers, body: bytes });
    return { status: response.status, json: await response.json() };
  };
  const put = (token: string, path: string, bytes: Buffer, at = app) => send(token, path, bytes, { method: 'PUT', at });
  const parts = (...pieces: Buffer[]) =>
    JSON.stringify({ parts: pieces.map((bytes, index) => ({ partNumber: index + 1, etag: etag(bytes) })) });
  const begin = async (token: string) => `${UPLOADS}/${String(field((await send(token, UPLOADS)).json, 'uploadId'))}`;
  const upload = async (token: string, bytes: Buffer) => {
    const path = await begin(token);
    await put(token, `${path}/1`, bytes);
    return send(token, path, parts(bytes));
  };
  const isThere = (key: string) => existsSync(join(app.dataDir, 'uploads', key));

  it('may arrive at any instance', async () => {
    const token = await tokenOf(ann);
    const [one, two] = [PNG.subarray(0, 30), PNG.subarray(30)];
    const other = await instance(env);
    const path = await begin(token);
    expect((await put(token, `${path}/1`, one, other)).status).toBe(200);
    expect((await put(token, `${path}/2`, two)).status).toBe(200);
    const { status, json } = await send(token, path, parts(one, two), { at: other });
    expect([status, json]).toEqual([200, { key: `${ann.id}/${etag(PNG)}.png`, hash: etag(PNG) }]);

    const { ctx } = (await send(token, `/mkblk/${PNG.length}`, one)).json as { ctx: string };
    expect((await send(token, `/bput/${ctx}/30`, two, { at: other })).status).toBe(200);
    expect((await send(token, `/mkfile/${PNG.length}`, ctx)).status).toBe(200);
  });

  // guard images-in-parts-1: parts are redirected to the configured address, not to one that a request names
  // src/integrations/storage/local/mounted-image-server.ts
  // - host: hostWith(publicUrlOf)
  // + host: hostWith((req) => `http://${req.get('Host')}`)
  it('are redirected to PUBLIC_URL when it is set, whatever host a client names', async () => {
    const named = await instance({ PUBLIC_URL: 'https://accounts.example.com/' });
    const token = await tokenOf(ann);
    const put = async (path: string, body: Buffer) => (await send(token, path, body, { at: named })).json;
    const block = await put('/mkblk/40', PNG.subarray(0, 30));
    const longer = await put(`/bput/${String(field(block, 'ctx'))}/30`, PNG.subarray(30, 40));
    expect([field(block, 'host'), field(longer, 'host')]).toEqual(Array(2).fill('https://accounts.example.com'));
  });

  it('are removed like others when another portrait replaces them', async () => {
    const key = String(field((await upload(await tokenOf(ann), PNG)).json, 'key'));
    for (const portraitUri of [`${app.url}/files/${key}`, 'https://elsewhere.example/p.png']) {
      expect(isThere(key)).toBe(true);
      await expectOk(ann.agent.post('/user/set_portrait_uri').send({ portraitUri }));
    }
    expect(isThere(key)).toBe(false);
  });

  it('are refused at each step after the password was changed', async () => {
    const before = await tokenOf(ann);
    const path = await begin(before);
    await put(before, `${path}/1`, PNG);
    const { ctx } = (await send(before, `/mkblk/${PNG.length}`, PNG)).json as { ctx: string };
    const newPassword = rememberSecret('another-pass');
    await expectOk(ann.agent.post('/user/change_password').send({ oldPassword: ann.password, newPassword }));
    for (const { status } of [
      await send(before, UPLOADS),
      await put(before, `${path}/1`, PNG),
      await send(before, path, parts(PNG)),
      await send(before, path, '', { method: 'DELETE' }),
      await send(before, '/mkblk/100', PNG),
      await send(before, `/bput/${ctx}/1`, PNG),
      await send(before, `/mkfile/${PNG.length}`, ctx),
    ])
      expect(status).toBe(401);
    expect((await send(await tokenOf(ann), path, parts(PNG))).status).toBe(200);
  });

  it('are refused once the account is closed', async () => {
    const token = await tokenOf(ann);
    await app.db('users').where({ id: ann.id }).update({ closed_at: new Date() });
    expect((await send(token, UPLOADS)).status).toBe(401);
    expect((await send(token, '/mkblk/100', PNG)).status).toBe(401);
  });

  // guard images-in-parts-2: an upload in parts counts as one, version 1
  // packages/image-server/src/resumable-v1-router.ts
  // - await uploads.admit(req)
  // + await uploads.admitPart(req)
  // guard images-in-parts-3: an upload in parts counts as one, version 2
  // packages/image-server/src/resumable-v2-router.ts
  // - await uploads.admit(req)
  // + await uploads.admitPart(req)
  it('count as one upload each, successful or not, in addition to their parts', async () => {
    const token = await tokenOf(ann);
    const { ctx } = (await send(token, `/mkblk/${PNG.length}`, PNG)).json as { ctx: string };
    expect((await send(token, `/mkfile/${PNG.length}`, ctx)).status).toBe(200);
    expect((await upload(token, PNG)).status).toBe(200);
    expect((await upload(token, Buffer.from('no image'))).status).toBe(400);
    expect((await send(token, UPLOADS)).status).toBe(429);
    expect((await send(token, `/mkfile/${PNG.length}`, ctx)).status).toBe(429);
  });

  // guard images-in-parts-4: a user may send a limited number of parts
  // src/features/images/image-accounts.ts
  // - return this.count('uploadPartsPerHour', uploader, caller);
  // + return uploader && caller && Promise.resolve();
  it('may have twenty parts for each upload that is allowed', async () => {
    const token = await tokenOf(ann);
    const path = await begin(token);
    const statuses = [];
    for (let i = 0; i < 61; i += 1) statuses.push((await put(token, `${path}/1`, PNG)).status);
    expect(statuses.indexOf(429)).toBe(60);
    expect((await send(token, '/mkblk/100', PNG)).status).toBe(429);
    expect((await send(token, path, '', { method: 'DELETE' })).status).toBe(429);
  });

  // guard images-in-parts-5: parts from a foreign page are refused
  // src/http/cross-site.ts
  // - WRITING.includes(req.method)
  // + req.method === 'POST'
  it("are refused from a foreign site's page", async () => {
    const token = await tokenOf(ann);
    const path = await begin(token);
    for (const method of ['PUT', 'DELETE', 'POST']) {
      const headers = { Authorization: `UpToken ${token}`, Origin: 'https://evil.example' };
      expect((await fetch(`${app.url}${path}/1`, { method, headers })).status).toBe(403);
    }
  });

  it('are not logged as failures when they are unknown', async () => {
    expect((await send(await tokenOf(ann), '/bput/unknown/1', PNG)).status).toBe(701);
    const line = () => app.logged().find(({ status }) => status === 701);
    await until(() => line() !== undefined);
    expect(line()).toMatchObject({ level: 30, route: '/bput/:ctx/:offset' });
  });

  it('count against the bytes that an account may store', async () => {
    const token = await tokenOf(ann);
    expect((await upload(token, await noise(20, 20))).status).toBe(200);
    expect((await upload(token, await noise(20, 20))).status).toBe(429);
    expect((await upload(token, await picture('png', 4))).status).toBe(200);
  });
});
