import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { startApp, type TestApp } from '../../support/app';
import { multipartForm, PNG } from '../../support/images';
import { expectOk, field, insertAndSignIn, type SignedInPerson } from '../../support/people';
import { rememberSecret } from '../../support/secrets';
import { until } from '../../support/until';

describe('an image server in a process of its own', () => {
  let images: TestApp;
  let accounts: TestApp;
  let ann: SignedInPerson;

  beforeAll(async () => {
    const SESSION_SECRETS = rememberSecret('4f1d9b07c3a85e62904b7d1c8f3a6e25');
    images = await startApp({ IMAGES: 'only', SESSION_SECRETS });
    accounts = await startApp({ IMAGES: images.url, SESSION_SECRETS }, { databaseUrl: images.databaseUrl });
  });
  beforeEach(async () => {
    ann = await insertAndSignIn(accounts);
  });
  afterAll(async () => {
    await accounts.close();
    await images.close();
  });

  const given = async ({ agent }: SignedInPerson) => {
    const { result } = await expectOk(agent.post('/user/get_image_token'));
    return { domain: String(field(result, 'domain')), token: rememberSecret(String(field(result, 'token'))) };
  };
  const send = async (url: string, token: string) => {
    const { headers, body } = multipartForm([
      ['token', token],
      ['file', PNG],
    ]);
    // A Blob, unlike a Buffer, can be sent again when a redirect asks for it.
    return fetch(url, { method: 'POST', headers, body: new Blob([new Uint8Array(body)]) });
  };
  const upload = async (person: SignedInPerson) => {
    const { domain, token } = await given(person);
    const response = await send(images.url, token);
    expect(response.status).toBe(200);
    return `${domain}/${String(field(await response.json(), 'key'))}`;
  };
  const show = ({ agent }: SignedInPerson, portraitUri: string) =>
    expectOk(agent.post('/user/set_portrait_uri').send({ portraitUri }));
  const namesOf = ({ id }: SignedInPerson) => {
    const folder = join(images.dataDir, 'uploads', id);
    return existsSync(folder) ? readdirSync(folder) : [];
  };

  it('accepts uploads with tokens that the accounts sign, and serves the images', async () => {
    const address = await upload(ann);
    expect(address).toContain(`${images.url}/files/${ann.id}/`);
    const response = await fetch(address);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png']);
  });

  // guard image-server-3: the accounts store no image when a separate image server does
  // src/integrations/storage/choose-image-storage.ts
  // - if (settings.address !== undefined) {
  // + if (settings.address === null) {
  it('gets uploads and image requests that clients send to the accounts, in one form or in parts', async () => {
    const { token } = await given(ann);
    expect((await send(accounts.url, token)).status).toBe(200);
    const path = `/files/${ann.id}/${namesOf(ann)[0] ?? ''}`;
    expect((await fetch(accounts.url + path)).status).toBe(200);
    for (const [method, path] of [
      ['POST', '/mkblk/100'],
      ['PUT', '/buckets/local/objects/~/uploads/an-upload/1?a=b'],
    ] as const) {
      const response = await fetch(accounts.url + path, { method, redirect: 'manual' });
      expect([response.status, response.headers.get('location')]).toEqual([307, images.url + path]);
    }
  });

  it('refuses a token once the account has a new password', async () => {
    const { token } = await given(ann);
    const newPassword = rememberSecret('another-pass');
    await expectOk(ann.agent.post('/user/change_password').send({ oldPassword: ann.password, newPassword }));
    expect((await send(images.url, token)).status).toBe(401);
  });

  // guard image-server-1: a separate image server removes images within seconds once the accounts have made them due
  // src/composition/images-container.ts
  // - { sweeps: [images.removing] }
  it('removes a portrait soon after it is replaced, and all images soon after the account is closed', async () => {
    await show(ann, await upload(ann));
    await show(ann, 'https://example.com/another.png');
    await until(() => namesOf(ann).length === 0);
    await show(ann, await upload(ann));
    await expectOk(ann.agent.post('/user/close_account').send({ password: ann.password }));
    await until(() => namesOf(ann).length === 0);
  });

  it('keeps a portrait in use', async () => {
    await show(ann, await upload(ann));
    const bob = await insertAndSignIn(accounts);
    await show(bob, await upload(bob));
    await show(bob, 'https://example.com/another.png');
    await until(() => namesOf(bob).length === 0);
    expect(namesOf(ann)).toHaveLength(1);
  });

  it('stores no image with the accounts', async () => {
    await upload(ann);
    expect(existsSync(join(accounts.dataDir, 'uploads'))).toBe(false);
  });
});
