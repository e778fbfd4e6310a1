// npm start: dependencies, then the service from its TypeScript sources, in this one process.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ensureDependencies, root } from './dependencies.mjs';

await ensureDependencies({ dev: false });
const require = createRequire(import.meta.url);
// Both, as an import() within a CommonJS module is resolved as ES modules are.
require('tsx/cjs');
await import('tsx/esm');
require(join(root, 'src', 'server.ts'));
