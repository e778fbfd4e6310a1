import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript';
import { ROOT } from '../support/service-process';

/** Files from which neither the image nor the compose file is made; above all the developer's own .env. */
const LEFT_OUT = [
  'node_modules',
  'packages',
  '.cache',
  '.git',
  '.env',
  '.data',
  '.test-output',
  'dist',
  'coverage',
  'test',
  'bench',
];
const IN_CONTAINER = ['compose/in-container/vendors', 'compose/in-container/guest'];
const STAND_INS = ['support/stand-ins/twilio', 'support/stand-ins/vendor-server'];

/** Copies the tree as an operator checks it out. */
export function copyTree(to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(ROOT))
    if (!LEFT_OUT.includes(name)) cpSync(join(ROOT, name), join(to, name), { recursive: true });
}

/** Compiles to plain JavaScript, which the image of Node runs without any package. */
export function compileForContainers(to: string): void {
  const compilerOptions = { module: ModuleKind.CommonJS, target: ScriptTarget.ES2022, esModuleInterop: true };
  for (const name of [...IN_CONTAINER, ...STAND_INS]) {
    const source = readFileSync(join(ROOT, 'test', `${name}.ts`), 'utf8');
    const path = join(to, `${name}.js`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, transpileModule(source, { compilerOptions }).outputText);
  }
}

/** Makes a certificate that the service is told to trust, for `vendors`, the name by which it reaches its vendors. */
export function makeCertificate(folder: string): void {
  const files = ['-keyout', join(folder, 'vendors.key'), '-out', join(folder, 'vendors.crt')];
  const name = ['-subj', '/CN=vendors', '-addext', 'subjectAltName=DNS:vendors', '-days', '2'];
  const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...name, ...files]);
  if (made.status !== 0) throw new Error(`openssl made no certificate: ${String(made.error ?? made.stderr)}`);
}

/** Returns the Dockerfile's image, which exists locally after a build. */
export function nodeImage(): string {
  const [, image] = /^(?:ARG NODE_IMAGE=|FROM )([^\s$]+)$/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')) ?? [];
  if (image === undefined) throw new Error('the Dockerfile names no image to run from');
  return image;
}
