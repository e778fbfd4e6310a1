// Writes .cache/postman.json: the operations for Postman, Bruno, Insomnia and other programs with such collections.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { collectionOf, type Document } from './collection/collection';

const root = join(__dirname, '../..');
const document = JSON.parse(readFileSync(join(root, 'docs', 'openapi.json'), 'utf8')) as Document;
mkdirSync(join(root, '.cache'), { recursive: true });
writeFileSync(join(root, '.cache', 'postman.json'), `${JSON.stringify(collectionOf(document), null, 2)}\n`);
process.stdout.write('Written: .cache/postman.json\n');
