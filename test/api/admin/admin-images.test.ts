import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withoutPhones } from '../../../src/features/phones/phone-number';
import { createGroup } from '../../support/groups';
import { picture, PNG } from '../../support/images';
import { command, noted, rowsOf } from '../../support/operator';
import { expectOk, field, type SignedInPerson } from '../../support/people';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';

const { app, ann, bob } = stage({ people: 2 });

const admin = (name: string, words: string[], options: Record<string, boolean> = {}) =>
  command(app, name, words, options);

/** Uploads an image, and returns its address and name. */
async function upload({ agent, id }: SignedInPerson, image: Buffer): Promise<{ address: string; name: string }> {
  const { result } = await expectOk(agent.post('/user/get_image_token'));
  const token = rememberSecret(String(field(result, 'token')));
  const sent = await app.api.post('/').field('token', token).attach('file', image, 'image.png');
  const key = String(field(sent.body, 'key'));
  return { address: `${app.url}/files/${key}`, name: key.slice(id.length + 1) };
}

const isThere = async ({ address }: { address: string }) => (await fetch(address)).status === 200;
const portraitOf = async ({ id }: SignedInPerson) =>
  field((await expectOk(bob.agent.post(`/user/${id}`))).result, 'portraitUri');

describe('images show', () => {
  it('shows the number of images, their bytes and names, and which is the portrait', async () => {
    const portrait = await upload(ann, PNG);
    const other = await upload(ann, await picture('png', 30, 30));
    await expectOk(ann.agent.post('/user/set_portrait_uri').send({ portraitUri: portrait.address }));
    const told = await admin('images show', [ann.id]);
    expect(rowsOf(told, 'images')).toEqual([{ count: 2, bytes: expect.any(Number) as number }]);
    const names = rowsOf(told, 'names').map(({ name, isPortrait }) => ({ name, isPortrait }));
    expect(names).toHaveLength(2);
    expect(names).toContainEqual({ name: portrait.name, isPortrait: true });
    expect(names).toContainEqual({ name: other.name, isPortrait: false });
  });
});

describe('images remove', () => {
  // guard admin-images-1: an image that an operator removes is gone although a group shows it
  // src/features/images/images-repository.ts
  // - SET was_portrait = true WHERE user_id = :userId AND name
  // + SET was_portrait = was_portrait WHERE user_id = :userId AND name
  it('removes one image from its address, and from the group that shows it', async () => {
    const shown = await upload(ann, PNG);
    const kept = await upload(ann, await picture('png', 30, 30));
    const groupId = await createGroup(app, [ann, bob]);
    await expectOk(ann.agent.post('/group/set_portrait_uri').send({ groupId, portraitUri: shown.address }));
    await admin('images remove', [ann.id, shown.name], { dryRun: true });
    expect(await isThere(shown)).toBe(true);
    const told = await admin('images remove', [ann.id, shown.name]);
    expect(rowsOf(told, 'removed').map(({ name }) => name)).toEqual([shown.name]);
    expect([await isThere(shown), await isThere(kept)]).toEqual([false, true]);
    const { result } = await expectOk(bob.agent.post(`/group/${groupId}`));
    expect(field(result, 'portraitUri')).toBe('');
    expect((await noted(app))?.detail).toBe(`images remove ${ann.id} ${withoutPhones(shown.name)}, by olga`);
  });

  it('removes all images of a user, whose portrait is then empty', async () => {
    const portrait = await upload(ann, PNG);
    const other = await upload(ann, await picture('png', 30, 30));
    await expectOk(ann.agent.post('/user/set_portrait_uri').send({ portraitUri: portrait.address }));
    expect(rowsOf(await admin('images remove', [ann.id]), 'removed')).toHaveLength(2);
    expect([await isThere(portrait), await isThere(other)]).toEqual([false, false]);
    expect(await portraitOf(ann)).toBe('');
  });

  it('leaves a portrait that is another image', async () => {
    const portrait = await upload(ann, PNG);
    const other = await upload(ann, await picture('png', 30, 30));
    await expectOk(ann.agent.post('/user/set_portrait_uri').send({ portraitUri: portrait.address }));
    await admin('images remove', [ann.id, other.name]);
    expect([await isThere(portrait), await isThere(other)]).toEqual([true, false]);
    expect(await portraitOf(ann)).toBe(portrait.address);
  });

  it('refuses an image that the user does not have', async () => {
    await expect(admin('images remove', [ann.id, 'none.png'])).rejects.toThrow('the user has no such image');
  });

  // guard admin-images-2: images are not forgotten where their files are not
  // src/admin/images-commands.ts
  // - await checkDisk(context, id, images);
  it('refuses to run where the files are not, and changes nothing', async () => {
    const image = await upload(ann, PNG);
    const elsewhere = { databaseUrl: app.databaseUrl, dataDir: mkdtempSync(join(tmpdir(), 'accounts-other-')) };
    await expect(command(elsewhere, 'images remove', [ann.id])).rejects.toThrow('run this where the service runs');
    expect(await isThere(image)).toBe(true);
    expect(await app.db('images').where({ user_id: ann.id })).toHaveLength(1);
  });

  it('leaves the file to the process that has it, where images have a process of their own', async () => {
    await upload(ann, PNG);
    const apart = { IMAGES: 'https://images.example.com' };
    expect(rowsOf(await command(app, 'images remove', [ann.id], {}, apart), 'due for removal')).toHaveLength(1);
    await app.sweep();
    expect(await app.db('images').where({ user_id: ann.id })).toEqual([]);
  });

  it('says where the images are that Qiniu keeps', async () => {
    const qiniu = {
      STORAGE_PROVIDER: 'qiniu',
      QINIU_ACCESS_KEY: 'access',
      QINIU_SECRET_KEY: rememberSecret('a-secret-of-qiniu'),
      QINIU_BUCKET: 'portraits',
      QINIU_DOMAIN: 'images.example.com',
    };
    for (const name of ['images show', 'images remove'])
      await expect(command(app, name, [ann.id], {}, qiniu)).rejects.toThrow(
        `Qiniu keeps the images: look in the bucket portraits under ${ann.id}/`,
      );
  });
});
