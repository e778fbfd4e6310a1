import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument, type Package } from '../../scripts/openapi/document';
import { ROOT } from '../support/service-process';

const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as unknown;

describe('docs/openapi.json', () => {
  it('is what the operations are now: npm run openapi writes it', () => {
    const written = openApiDocument(read('package.json') as Package);
    expect(read('docs/openapi.json')).toEqual(JSON.parse(JSON.stringify(written)));
  });
});
