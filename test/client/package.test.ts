import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { ROOT } from '../support/service-process';

const CLIENT = join(ROOT, 'packages/client');

interface Package {
  version: string;
  main: string;
  exports: Record<string, string | { import: string; require: string }>;
  files: string[];
}

const inFolder = (folder: string) => JSON.parse(readFileSync(join(CLIENT, folder, 'package.json'), 'utf8')) as Package;

const { version, exports: entries, files } = inFolder('.');
const modules = Object.entries(entries).flatMap(([entry, forms]) =>
  typeof forms === 'string' ? [] : [{ entry, forms }],
);

/** `npm run client-check` builds the package, and tries each form. */
describe.each(modules)('the entry $entry of the client', ({ entry, forms }) => {
  // guard package-1: the client can be required by CommonJS
  // packages/client/package.json
  // - "require": "./dist/cjs/index.js"
  // + "require": "./dist/index.js"
  it('is an ES module, and CommonJS, from the same source', () => {
    const [, name = ''] = /^\.\/dist\/(\w+)\.js$/.exec(forms.import) ?? [];
    expect(forms.require).toBe(`./dist/cjs/${name}.js`);
    expect(existsSync(join(CLIENT, 'src', `${name}.ts`))).toBe(true);
  });

  // guard package-2: bundlers that do not know exports find the hooks
  // packages/client/react/package.json
  // - ../dist/cjs/react.js
  // + ../dist/react.js
  it('is found as CommonJS by bundlers that do not know exports', () => {
    expect(posix.join(entry, inFolder(entry).main)).toBe(posix.normalize(forms.require));
    if (entry !== '.') expect(files).toContain(posix.normalize(entry));
  });
});

it('is installed in the README by the name that npm pack gives it', () => {
  const named = readFileSync(join(CLIENT, 'README.md'), 'utf8').match(/user-account-service-client-.*\.tgz/g);
  expect(named).toEqual([`user-account-service-client-${version}.tgz`]);
});
