// npm test: Jest, in this one process. Arguments go to Jest: npm test -- test/api/login.test.ts
import { createRequire } from 'node:module';
import { root } from './dependencies.mjs';

process.chdir(root);
process.env.NODE_ENV = 'test';
process.stdout.write('Running the tests on a PostgreSQL of their own …\n');
const require = createRequire(import.meta.url);
await require('jest').run(process.argv.slice(2));
