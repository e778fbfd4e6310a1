// Writes docs/postman.json: the operations for Postman, Bruno, Insomnia and whatever else reads such a collection.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { collectionOf, type Document } from './collection/collection';

const docs = join(__dirname, '..', 'docs');
const document = JSON.parse(readFileSync(join(docs, 'openapi.json'), 'utf8')) as Document;
writeFileSync(join(docs, 'postman.json'), `${JSON.stringify(collectionOf(document), null, 2)}\n`);
