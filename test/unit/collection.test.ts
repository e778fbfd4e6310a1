import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { collectionOf, type Document } from '../../scripts/describe/collection/collection';
import { ROOT } from '../support/service-process';

const document = JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8')) as Document;
const collection = collectionOf(document);

describe('the collection for Postman', () => {
  it('has each operation once, after the folder of the first minutes', () => {
    const [, ...folders] = collection.item;
    const found = folders.flatMap(({ item }) => item.map(({ name, request }) => `${request.method} ${name}`));
    const wanted = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(found.sort()).toEqual(wanted.sort());
  });

  it('names no variable that it does not define', () => {
    const used = [...JSON.stringify(collection).matchAll(/\{\{(\w+)\}\}|Variables\.set\('(\w+)'/g)];
    const names = new Set(used.map(([, sent, kept]) => sent ?? kept));
    expect([...names].sort()).toEqual(collection.variable.map(({ key }) => key).sort());
  });
});
