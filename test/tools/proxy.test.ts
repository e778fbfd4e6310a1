import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { startApp, type TestApp } from '../support/app';
import { credentialsOf, signedInClient } from '../support/client';
import { codeOfKind } from '../support/code-blocks';
import { FaultProxy } from '../support/fault-proxy';
import { PNG, inspectImage } from '../support/images';
import { insertPerson } from '../support/people';
import { ROOT } from '../support/service-process';
import { until } from '../support/until';

const README = readFileSync(join(ROOT, 'packages/client/README.md'), 'utf8');

const [OF_README = ''] = codeOfKind(README, 'js').filter((text) => text.includes('vite.config.js'));
const BY_PATHS = `
const paths = ['/user', '/friendship', '/group', '/files', '/captcha', '/docs', '/openapi.json'];
const target = 'http://127.0.0.1:8585';
export default { server: { proxy: Object.fromEntries(paths.map((path) => [path, { target }])) } };
`;

describe.each([
  ['below a path, as its README has it', OF_README, '/accounts'],
  ['beside the pages of an app', BY_PATHS, ''],
])('the client behind Vite, with the service %s', (_, config, base) => {
  let folder: string;
  let way: FaultProxy;
  let vite: ChildProcess;
  let site: string;
  let app: TestApp;

  beforeAll(async () => {
    // Vite's address is known only when it runs. The service needs it, and Vite needs the service's.
    way = await FaultProxy.start('http://127.0.0.1:1');
    folder = mkdtempSync(join(tmpdir(), 'accounts-vite-'));
    writeFileSync(
      join(folder, 'vite.config.mjs'),
      config.replace('http://127.0.0.1:8585', `http://127.0.0.1:${way.port}`),
    );
    writeFileSync(join(folder, 'index.html'), '<!doctype html><title>An app</title>');
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const program = join(ROOT, 'node_modules/vite/bin/vite.js');
    vite = spawn(process.execPath, [program, '--host', '127.0.0.1', '--port', '0'], { cwd: folder });
    site = await addressIn(vite);
    app = await startApp({ PUBLIC_URL: site + base });
    way.leadTo(app.url);
  });
  afterAll(async () => {
    vite.kill();
    await once(vite, 'exit');
    await app.close();
    await way.close();
    rmSync(folder, { recursive: true, force: true });
  });

  // guard proxy-1: the client uploads to a path that an app does not use for a page
  // packages/client/src/images.ts
  // - const UPLOAD = '/files';
  // + const UPLOAD = '/';
  it('uploads portraits, and returns working addresses of images and captchas', async () => {
    const client = await signedInClient({ url: site + base }, await insertPerson(app, 'Ann'));
    const set = await client.setPortrait(new Blob([PNG], { type: 'image/png' }));
    const captcha = await client.call('/user/get_sms_img_code');
    if (!set.ok || !captcha.ok) throw new Error(JSON.stringify([set, captcha]));
    for (const address of [set.result.url, captcha.result.url]) {
      expect(address).toMatch(new RegExp(`^${site}${base}/`));
      const shown = await fetch(address);
      expect(shown.headers.get('Content-Type')).toBe('image/png');
      expect(await inspectImage(Buffer.from(await shown.arrayBuffer()))).toMatchObject({ format: 'png' });
    }
  });

  // guard proxy-2: the page /docs finds its files below a path
  // src/web/browser/docs.html
  // - href="docs/page.css"
  // + href="/docs/page.css"
  it('shows the reference, with all of its files and the address of the proxy', async () => {
    const page = await fetch(`${site}${base}/docs`);
    const files = [...(await page.text()).matchAll(/(?:src|href)="(\/?(?:docs\/|openapi)[^"]+)"/g)];
    expect(files.length).toBeGreaterThan(5);
    for (const [, file = ''] of files) {
      const shown = await fetch(new URL(file, page.url));
      // Vite answers with the app's page for a file that does not exist.
      expect([file, shown.status, shown.headers.get('Content-Type')]).toEqual([
        file,
        200,
        expect.not.stringContaining('text/html'),
      ]);
    }
    const described = (await (await fetch(new URL('openapi.json', page.url))).json()) as { servers: unknown };
    expect(described.servers).toEqual([{ url: site + base }]);
  });

  // guard proxy-3: a PUBLIC_URL with a path has an origin without it
  // src/http/cross-site.ts
  // - new URL(publicUrl).origin
  // + publicUrl
  it('signs in from its pages only, not from another site, and its cookie is sent to all paths', async () => {
    const body = JSON.stringify(credentialsOf(await insertPerson(app, 'Bob')));
    const login = (origin: string) =>
      fetch(`${site}${base}/user/login`, { method: 'POST', headers: { Origin: origin }, body });
    const own = await login(site);
    expect([own.status, own.headers.getSetCookie()]).toEqual([
      200,
      expect.arrayContaining([expect.stringMatching(/^sid=.*; Path=\/;/)]),
    ]);
    expect((await login('http://other.example')).status).toBe(403);
  });
});

/** Returns the address that Vite prints when it listens. */
async function addressIn({ stdout }: ChildProcess): Promise<string> {
  let text = '';
  stdout?.on('data', (chunk: Buffer) => (text += stripVTControlCharacters(String(chunk))));
  const address = () => /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
  await until(() => address() !== undefined);
  return address() ?? '';
}
