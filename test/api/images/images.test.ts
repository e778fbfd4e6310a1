import childProcess, { fork, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { startApp } from '../../support/app';
import { Gate } from '../../support/gate';
import { multipartForm, noise, picture, PNG, pngOf } from '../../support/images';
import { expectOk, field, insertAndSignIn, verificationToken, type SignedInPerson } from '../../support/people';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';
import { until } from '../../support/until';
import { untilWaiting, whileHeld } from '../../support/waiting';

const MIB = 1_024 * 1_024;

describe('images stored by this service', () => {
  const env = { UPLOADS_PER_USER_HOUR: '30', UPLOAD_BYTES_PER_USER: '2000' };
  const { app, instance, ann } = stage({ env, people: 1 });
  afterEach(() => jest.restoreAllMocks());

  const tokenOf = async ({ agent }: SignedInPerson) =>
    rememberSecret(String(field((await expectOk(agent.post('/user/get_image_token'))).result, 'token')));
  const send = async (token: string, file: Buffer, name?: string, on = app) => {
    const key: [string, string][] = name === undefined ? [] : [['key', name]];
    const { headers, body } = multipartForm([['token', token], ...key, ['file', file]]);
    const response = await fetch(on.url, { method: 'POST', headers, body: new Uint8Array(body) });
    const json: unknown = await response.json();
    return { status: response.status, json, retryAfter: response.headers.get('retry-after') };
  };
  const upload = async (person: SignedInPerson, file: Buffer) => {
    const { status, json } = await send(await tokenOf(person), file);
    expect({ status, json }).toMatchObject({ status: 200 });
    return String(field(json, 'key'));
  };
  const folderOf = ({ id }: SignedInPerson) => join(app.dataDir, 'uploads', id);
  const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);
  const namesOf = (person: SignedInPerson) => namesIn(folderOf(person));
  const isThere = (key: string) => existsSync(join(app.dataDir, 'uploads', key));
  const show = ({ agent }: SignedInPerson, portraitUri: string) =>
    expectOk(agent.post('/user/set_portrait_uri').send({ portraitUri }));
  const address = (key: string) => `${app.url}/files/${key}`;
  /** Lets each new decoder start, and then do nothing. Shortens the ten seconds that it has for an image. */
  const hangDecoders = () => {
    let isDue = false;
    const wait = setTimeout;
    jest.spyOn(globalThis, 'setTimeout').mockImplementation((run: () => void, milliseconds?: number, ...values: []) => {
      const isLimit = isDue && milliseconds === 10_000;
      if (isLimit) isDue = false;
      return wait(run, isLimit ? 100 : milliseconds, ...values);
    });
    const start = fork as (...args: unknown[]) => ChildProcess;
    jest.spyOn(childProcess, 'fork').mockImplementation((...args: unknown[]) => {
      const decoder = start(...args);
      decoder.send = () => true;
      // Its first message tells that it has started.
      return decoder.once('message', () => (isDue = true));
    });
  };
  const aDayLater = () => app.db('images').update({ due_at: app.db.raw('now()') });

  describe('a token', () => {
    const status = async (token: string) => (await send(token, PNG)).status;

    it('allows an upload', async () => {
      expect(await status(await tokenOf(ann))).toBe(200);
    });

    // guard images-1: an upload token ends with the password under which it was given
    // src/features/images/image-accounts.ts
    // - if (account?.credentialsVersion !== credentialsVersion) throw ended();
    // + if (!account) throw ended();
    it('is refused after the password was changed or reset', async () => {
      const before = await tokenOf(ann);
      const newPassword = rememberSecret('another-pass');
      await expectOk(ann.agent.post('/user/change_password').send({ oldPassword: ann.password, newPassword }));
      expect(await status(before)).toBe(401);
      // It is refused before any of the file is read.
      expect((await send(before, Buffer.from('no image'))).status).toBe(401);
      const between = await tokenOf(ann);
      const reset = { password: rememberSecret('a-third-pass'), verification_token: await verificationToken(app, ann) };
      await expectOk(app.api.post('/user/reset_password').send(reset));
      expect(await status(between)).toBe(401);
      expect(namesOf(ann)).toEqual([]);
    });

    // guard images-2: an upload token is given under the credentials version with which its session was found
    // src/features/tokens/tokens-service.ts
    // - uploadToken({ userId, credentialsVersion }: Uploader, publicUrl: string): UploadToken {
    // -   return this.storage.uploadToken({ userId, credentialsVersion }, publicUrl);
    // + async uploadToken({ userId }: Uploader, publicUrl: string): Promise<UploadToken> {
    // +   const { credentialsVersion } = (await this.users.account(userId)) ?? { credentialsVersion: 0 };
    // +   return this.storage.uploadToken({ userId, credentialsVersion }, publicUrl);
    it('is refused when an ended session requested it during a password reset', async () => {
      const gate = new Gate();
      app.beforeOperation = (path) => (path === '/user/get_image_token' ? gate.wait() : Promise.resolve());
      const asked = tokenOf(ann);
      await gate.reached;
      app.beforeOperation = () => Promise.resolve();
      const reset = {
        password: rememberSecret('a-fourth-pass'),
        verification_token: await verificationToken(app, ann),
      };
      await expectOk(app.api.post('/user/reset_password').send(reset));
      gate.open();
      expect(await status(await asked)).toBe(401);
      expect(namesOf(ann)).toEqual([]);
    });

    it('is refused once the account is closed', async () => {
      const token = await tokenOf(ann);
      await app.db('users').where({ id: ann.id }).update({ closed_at: new Date() });
      expect(await status(token)).toBe(401);
      expect(namesOf(ann)).toEqual([]);
    });

    // guard images-3: a password change during an upload ends the upload
    // src/features/images/images-repository.ts
    // - .where({ id: userId, credentials_version: credentialsVersion })
    // + .where({ id: userId })
    it('is refused when the password changes after the upload began', async () => {
      const token = await tokenOf(ann);
      const change = 'UPDATE users SET credentials_version = credentials_version + 1 WHERE id = ?';
      expect((await whileHeld(app, change, [ann.id], () => send(token, PNG))).status).toBe(401);
      expect(namesOf(ann)).toEqual([]);
    });
  });

  describe('are limited per account', () => {
    // guard images-4: a user may upload 30 images an hour
    // src/features/images/image-accounts.ts
    // - await this.deps.limiter.take(caller, { limit, subject: userId });
    it('to 30 uploads an hour, successful or not', async () => {
      const token = await tokenOf(ann);
      const answers = [];
      for (let i = 0; i < 31; i += 1) answers.push(await send(token, i % 2 ? PNG : Buffer.from('no image')));
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(1);
      expect(answers.at(-1)).toMatchObject({
        status: 429,
        json: { error: expect.stringContaining('try again') as string },
      });
      expect(Number(answers.at(-1)?.retryAfter)).toBeGreaterThan(3_000);
      expect((await send(await tokenOf(await insertAndSignIn(app)), PNG)).status).toBe(200);
    });

    // guard images-11: an image whose decoding takes too long counts as ten uploads
    // packages/image-server/src/image-store.ts
    // - COUNTS_AS - 1
    // + 0
    it('to three an hour whose decoding is aborted because it takes too long', async () => {
      hangDecoders();
      const slow = await instance({ UPLOADS_PER_USER_HOUR: '30' });
      const token = await tokenOf(ann);
      const statuses = [];
      for (let i = 0; i < 4; i += 1) statuses.push((await send(token, PNG, undefined, slow)).status);
      expect(statuses).toEqual([400, 400, 400, 429]);
      jest.restoreAllMocks();
      const bob = await insertAndSignIn(app);
      for (let i = 0; i < 4; i += 1) expect((await send(await tokenOf(bob), PNG)).status).toBe(200);
    });

    it('in total bytes, also for concurrent uploads', async () => {
      const token = await tokenOf(ann);
      const pictures = await Promise.all(Array.from({ length: 30 }, (_, i) => picture('png', 3 + i, 40)));
      const answers = await Promise.all(pictures.map((bytes) => send(token, bytes)));
      expect(answers.filter(({ status }) => ![200, 429].includes(status))).toEqual([]);
      const sizes = namesOf(ann).map((name) => statSync(join(folderOf(ann), name)).size);
      expect(sizes).toHaveLength(answers.filter(({ status }) => status === 200).length);
      expect(sizes.length).toBeLessThan(30);
      const sum = sizes.reduce((one, other) => one + other, 0);
      expect(sum).toBeLessThanOrEqual(2_000);
      expect(sum).toBeGreaterThan(1_500);
    });

    // guard images-5: a user's images are limited in bytes, also for concurrent uploads
    // src/features/images/images-repository.ts
    // - .forNoKeyUpdate()
    it('in total bytes, even when all uploads read the sum before one is entered', async () => {
      const token = await tokenOf(ann);
      const pictures = await Promise.all(Array.from({ length: 5 }, () => noise()));
      const others = await app.db.transaction();
      await others.raw('LOCK TABLE images IN SHARE ROW EXCLUSIVE MODE');
      const sending = pictures.map((bytes) => send(token, bytes));
      await untilWaiting(app.db, 2);
      await others.commit();
      const statuses = (await Promise.all(sending)).map(({ status }) => status);
      expect(statuses.sort()).toEqual([200, 429, 429, 429, 429]);
      expect(namesOf(ann)).toHaveLength(1);
    });

    it('by the stored size, so that a megabyte around a pixel counts as the pixel', async () => {
      await upload(ann, pngOf(MIB));
      expect(statSync(join(folderOf(ann), namesOf(ann)[0] ?? '')).size).toBeLessThan(200);
    });
  });

  describe('are removed', () => {
    // guard images-8: a replaced portrait is removed
    // src/features/profile/profile-service.ts
    // - if (changes.portraitUri === undefined) return;
    // + return;
    it('when another portrait replaces them', async () => {
      const [first, second] = [await upload(ann, await picture('png', 4)), await upload(ann, await picture('gif', 5))];
      await show(ann, address(first));
      expect([isThere(first), isThere(second)]).toEqual([true, true]);
      await show(ann, address(second));
      expect([isThere(first), isThere(second)]).toEqual([false, true]);
      expect((await fetch(address(first))).status).toBe(404);
      await show(ann, 'https://elsewhere.example/p.png');
      expect(namesOf(ann)).toEqual([]);
    });

    it('and their key and room are free again', async () => {
      const key = await upload(ann, PNG);
      await show(ann, `${address(key)}?size=small`);
      await show(ann, 'https://elsewhere.example/p.png');
      expect(await upload(ann, PNG)).toBe(key);
    });

    // guard images-9: caches do not keep an image forever, since another may get its address later
    // packages/image-server/src/image-router.ts
    // - max-age=${CACHED_SECONDS}
    // + max-age=31536000, immutable
    it('and another image may take their address, which caches keep for a day at most', async () => {
      const [key, token] = [`${ann.id}/me.png`, await tokenOf(ann)];
      const shown = async () => {
        const image = await fetch(address(key));
        return { caching: image.headers.get('cache-control'), body: Buffer.from(await image.arrayBuffer()) };
      };
      await send(token, await picture('png', 4), key);
      const first = await shown();
      await show(ann, address(key));
      await show(ann, 'https://elsewhere.example/p.png');
      expect(await send(token, await picture('png', 5), key)).toMatchObject({ status: 200 });
      expect((await shown()).body.equals(first.body)).toBe(false);
      expect(first.caching).toBe('public, max-age=86400');
    });

    it('when they were not a portrait for a day, but not sooner', async () => {
      const [stray, portrait] = [await upload(ann, await picture('png', 4)), await upload(ann, PNG)];
      await show(ann, address(portrait));
      await app.sweep();
      expect([isThere(stray), isThere(portrait)]).toEqual([true, true]);
      await aDayLater();
      await app.sweep();
      expect([isThere(stray), isThere(portrait)]).toEqual([false, true]);
      await aDayLater();
      await app.sweep();
      expect(isThere(portrait)).toBe(true);
    });

    // guard images-13: an image that is uploaded again is kept for another day
    // src/features/images/images-repository.ts
    // - .update({ due_at })) > 0
    // + .update({ bytes: this.db.ref('bytes') })) > 0
    it('a day later when they were uploaded again', async () => {
      const key = await upload(ann, PNG);
      await aDayLater();
      expect(await upload(ann, PNG)).toBe(key);
      await app.sweep();
      expect(isThere(key)).toBe(true);
      await aDayLater();
      await app.sweep();
      expect(isThere(key)).toBe(false);
    });

    it('within a day when their account is closed', async () => {
      const portrait = await upload(ann, PNG);
      await show(ann, address(portrait));
      await app.db('users').where({ id: ann.id }).update({ closed_at: new Date(), portrait_uri: '' });
      await aDayLater();
      await app.sweep();
      expect(isThere(portrait)).toBe(false);
    });

    it('only for their owner: another user can name a portrait that is not theirs, and replace it', async () => {
      const bob = await insertAndSignIn(app);
      const portrait = await upload(ann, PNG);
      await show(ann, address(portrait));
      await show(bob, address(portrait));
      await show(bob, 'https://elsewhere.example/p.png');
      expect(isThere(portrait)).toBe(true);
    });

    // guard images-10: a portrait that a group of its owner shows is not removed
    // src/features/images/images-repository.ts
    // - ${shows('groups.portrait_uri')}))`
    // + false))`
    it('only when no group of their owner shows them any longer', async () => {
      const portrait = await upload(ann, PNG);
      const group = { id: `group-${ann.id}`, name: 'Hikers', creator_id: ann.id, portrait_uri: address(portrait) };
      await app.db('groups').insert(group);
      await app.db('group_members').insert({ group_id: group.id, member_id: ann.id });
      await aDayLater();
      await app.sweep();
      expect(isThere(portrait)).toBe(true);
      await app.db('groups').where({ id: group.id }).update({ portrait_uri: '' });
      await aDayLater();
      await app.sweep();
      expect(isThere(portrait)).toBe(false);
    });

    // guard images-6: no group keeps a portrait online that its owner has removed
    // src/features/images/images-repository.ts
    // - AND was_portrait AND NOT ${IS_PORTRAIT}
    // + AND was_portrait AND NOT ${SHOWN.replace("NOT image.was_portrait AND ", "")}
    it('when their owner removes them, also from groups of others that show them', async () => {
      const bob = await insertAndSignIn(app);
      const portrait = await upload(ann, PNG);
      await show(ann, address(portrait));
      const group = { id: `pin-${ann.id}`, name: 'Pins', creator_id: bob.id, portrait_uri: address(portrait) };
      await app.db('groups').insert(group);
      const members = [bob, ann].map(({ id }) => ({ group_id: group.id, member_id: id }));
      await app.db('group_members').insert(members);
      await app.db('group_members').where({ member_id: ann.id }).update({ is_deleted: true });
      await expectOk(ann.agent.post('/user/remove_portrait'));
      expect((await fetch(address(portrait))).status).toBe(404);
      expect(await app.db('groups').where({ id: group.id }).pluck('portrait_uri')).toEqual(['']);
    });

    // guard images-7: no group fills a user's space with former portraits
    // src/features/images/images-repository.ts
    // - OR NOT image.was_portrait AND EXISTS
    // + OR EXISTS
    it('later if they could not be removed at once: groups of others do not keep former portraits', async () => {
      const bob = await insertAndSignIn(app);
      const portrait = await upload(ann, PNG);
      await show(ann, address(portrait));
      const group = { id: `pin2-${ann.id}`, name: 'Pins', creator_id: bob.id, portrait_uri: address(portrait) };
      await app.db('groups').insert(group);
      await app.db('group_members').insert({ group_id: group.id, member_id: ann.id });
      await app.db('users').where({ id: ann.id }).update({ portrait_uri: '' });
      await aDayLater();
      await app.sweep();
      expect(isThere(portrait)).toBe(false);
      expect(await app.db('images').where({ user_id: ann.id })).toEqual([]);
    });

    it('after a day, even if an older release stored them', async () => {
      const [stray, portrait] = [await upload(ann, await picture('png', 4)), await upload(ann, PNG)];
      await show(ann, address(portrait));
      await app.db('images').where({ user_id: ann.id }).delete();
      const other = await instance();
      await other.sweep();
      expect([isThere(stray), isThere(portrait)]).toEqual([true, true]);
      await aDayLater();
      await other.sweep();
      expect([isThere(stray), isThere(portrait)]).toEqual([false, true]);
    });
  });

  // guard images-12: an instance that stops removes unfinished uploads
  // src/features/images/build-images.ts
  // - resources: [storage],
  it('leave nothing behind when the service stops during their upload', async () => {
    const ending = await startApp({}, { databaseUrl: app.databaseUrl, dataDir: app.dataDir });
    const { headers, body } = multipartForm([
      ['token', await tokenOf(ann)],
      ['file', await noise(150, 150)],
    ]);
    const incoming = () => namesIn(join(app.dataDir, 'uploads', '.incoming'));
    for (let i = 0; i < 30; i += 1) {
      const sending = request(ending.url, { method: 'POST', headers: { ...headers, 'Content-Length': body.length } });
      sending.on('error', () => {});
      sending.write(body.subarray(0, 30_000));
    }
    await until(() => incoming().length === 30);
    await ending.close();
    expect(incoming()).toEqual([]);
  });
});
