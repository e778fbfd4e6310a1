import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { get as httpGet } from 'node:http';
import { join } from 'node:path';
import { PNG, inspectImage } from '../../../test/support/images';
import { post, startImageServer, type ImageServer } from './image-server';

const USER = 'user_A-1';

describe('stored image', () => {
  let server: ImageServer;

  beforeEach(async () => {
    server = await startImageServer();
    const token = server.tokenOf(USER);
    await post(server.url, [
      ['token', token],
      ['key', `${USER}/a.png`],
      ['file', PNG],
    ]);
  });
  afterEach(() => server.close());

  const get = (path: string) => fetch(server.url + path);

  /** Sends the path as it is: fetch would normalise it. */
  const statusOf = (path: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const request = httpGet(server.url, { path }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      request.on('error', reject);
    });

  it('is served as a picture', async () => {
    const response = await get(`/files/${USER}/a.png`);
    expect(await inspectImage(Buffer.from(await response.arrayBuffer()))).toEqual({
      format: 'png',
      width: 1,
      height: 1,
    });
  });

  // guard local-images-4: browsers do not show an upload as a page
  // packages/image-server/src/image-router.ts
  // - 'Content-Security-Policy': "default-src 'none'; sandbox",
  it('is served with headers that keep it an image', async () => {
    const { headers } = await get(`/files/${USER}/a.png`);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(statSync(join(server.directory, USER, 'a.png')).size),
      'cache-control': 'public, max-age=86400',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
    });
  });

  it('is served as what it is, not as what its name says', async () => {
    await writeFile(join(server.directory, USER, 'b.png'), Buffer.from('GIF89a\x01\x00\x01\x00\x00\x00;', 'latin1'));
    expect((await get(`/files/${USER}/b.png`)).headers.get('content-type')).toBe('image/gif');
  });

  it('answers a HEAD with only the headers', async () => {
    const response = await fetch(`${server.url}/files/${USER}/a.png`, { method: 'HEAD' });
    expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([
      200,
      String(statSync(join(server.directory, USER, 'a.png')).size),
      '',
    ]);
  });

  it.each([
    ['another name', `/files/${USER}/b.png`],
    ['another user', '/files/someone/a.png'],
    ['a folder', `/files/${USER}`],
    ['a folder with a slash', `/files/${USER}/`],
    ['a way up', '/files/../uploads/user_A-1/a.png'],
    ['an encoded way up', `/files/${USER}/..%2f..%2f..%2f..%2fetc%2fpasswd`],
    ['an encoded folder', '/files/%2e%2e/secret.png'],
    ['a doubly encoded way up', '/files/%252e%252e/secret.png'],
    ['backslashes', `/files/${USER}/..%5csecret.png`],
    ['a NUL', `/files/${USER}/a.png%00`],
    ['an absolute path', '/files//etc/passwd'],
    ['an unfinished upload', '/files/.incoming/unfinished'],
    ['the own folder as a name', `/files/${USER}/.`],
    ['more folders', `/files/${USER}/b/a.png`],
  ])('is not found under %s', async (_what, path) => {
    await writeFile(join(server.directory, '..', 'secret.png'), PNG);
    await writeFile(join(server.directory, '.incoming', 'unfinished'), PNG);
    expect(await statusOf(path)).toBe(404);
  });

  it('is not listed', async () => {
    expect(await statusOf('/files/')).toBe(405);
  });

  // guard local-images-5: an image that has no name yet gets none once the account is closed
  // packages/image-server/src/image-store.ts
  // - if (!(await this.book.has(entry))) await this.withdraw(entry);
  it('is gone once the account is closed, even if it had no name yet', async () => {
    const enter = server.book.enter.bind(server.book);
    server.book.enter = async (image) => {
      const entered = await enter(image);
      server.book.unused = ['a.png', 'b.png'].map((name) => ({ userId: USER, name }));
      await server.storage.removeUnused(USER);
      return entered;
    };
    const token = server.tokenOf(USER);
    const { status } = await post(server.url, [
      ['token', token],
      ['key', `${USER}/b.png`],
      ['file', PNG],
    ]);
    expect(status).toBe(503);
    expect(await server.files()).toEqual([]);
  });

  it('is not found when it is a link to an image', async () => {
    await symlink(join(server.directory, USER, 'a.png'), join(server.directory, USER, 'link.png'));
    expect(await statusOf(`/files/${USER}/link.png`)).toBe(404);
  });

  it('is not found through a link to a folder', async () => {
    await symlink(join(server.directory, USER), join(server.directory, 'linked'));
    expect(await statusOf('/files/linked/a.png')).toBe(404);
  });

  it('is not found when it is a folder', async () => {
    await mkdir(join(server.directory, USER, 'folder'));
    expect(await statusOf(`/files/${USER}/folder`)).toBe(404);
  });

  it('is not found when it is a pipe, and opening it does not wait', async () => {
    execFileSync('mkfifo', [join(server.directory, USER, 'pipe.png')]);
    expect(await statusOf(`/files/${USER}/pipe.png`)).toBe(404);
  });

  it.each([
    ['a page', '<html>'],
    ['empty', ''],
  ])('is not found when someone put a file there that is %s', async (_what, content) => {
    await writeFile(join(server.directory, USER, 'page.png'), content);
    expect(await statusOf(`/files/${USER}/page.png`)).toBe(404);
  });

  describe('that is shown nowhere', () => {
    const image = { userId: USER, name: 'a.png' };
    const upload = () => {
      const token = server.tokenOf(USER);
      return post(server.url, [
        ['token', token],
        ['key', `${USER}/a.png`],
        ['file', PNG],
      ]);
    };
    const status = async () => (await get(`/files/${USER}/a.png`)).status;
    const removeEntry = () => server.book.remove(image).then(() => ({ checked: 0, removed: [image] }));
    afterEach(() => jest.restoreAllMocks());

    it('is removed, and nothing is left of it', async () => {
      server.book.unused = [image];
      await server.storage.sweep();
      expect(await status()).toBe(404);
      expect(await server.files()).toEqual([]);
    });

    // guard local-images-1: an image that is uploaded again before its file is removed stays
    // packages/image-server/src/image-store.ts
    // - if (await this.book.has(image).catch(() => true)) await link(path, this.pathOf(image));
    it('stays when it is uploaded again before its file is removed', async () => {
      jest.spyOn(server.book, 'removeUnused').mockImplementationOnce(async () => {
        const answer = await removeEntry();
        expect((await upload()).status).toBe(200);
        return answer;
      });
      await server.storage.sweep();
      expect(await status()).toBe(200);
    });

    // guard local-images-3: the removal of an image tolerates one that has taken its place
    // packages/image-server/src/image-store.ts
    // - if (!hasCode(error, 'ENOENT', 'EEXIST')) throw error;
    // + if (!hasCode(error, 'ENOENT')) throw error;
    it('stays when it is uploaded again while its file is removed', async () => {
      jest.spyOn(server.book, 'removeUnused').mockImplementationOnce(removeEntry);
      jest.spyOn(server.book, 'has').mockImplementationOnce(async () => {
        expect((await upload()).status).toBe(200);
        return true;
      });
      await server.storage.sweep();
      expect(await status()).toBe(200);
    });

    // guard local-images-2: an image stays while it is unknown whether it was uploaded again
    // packages/image-server/src/image-store.ts
    // - this.book.has(image).catch(() => true)
    // + this.book.has(image).catch(() => false)
    it('stays while it is unknown whether it was uploaded again', async () => {
      server.book.unused = [image];
      jest.spyOn(server.book, 'has').mockRejectedValueOnce(new Error('the database is away'));
      await server.storage.sweep();
      expect(await status()).toBe(200);
    });
  });
});
