import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, TYPESCRIPT } from '../support/service-process';
import { java, javaVersion } from './java';
import { jars } from './maven';
import { outputOf } from './program';
import { withService, expectPlayedToEnd, type Stage } from './stage';

const PYTHON = process.env.PYTHON ?? 'python3';
const LIVES = join(__dirname, 'lives');
const OLDEST_JAVA = 17;

/** Generates a client and plays two users' life with it. Returns the program's output. */
type Play = (folder: string, stage: Stage) => Promise<string>;

interface Life {
  /** Returns a required tool that this machine does not have. */
  missing: () => string | undefined;
  play: Play;
}

export const lives: Record<string, Life> = {
  'hey-api': { missing: () => missingTool('openapi-ts'), play: inTypeScript('hey-api', heyApi) },
  orval: { missing: () => missingTool('orval'), play: inTypeScript('orval', orval) },
  'typescript-fetch': {
    missing: missingJava,
    play: inTypeScript('typescript-fetch', (url, to) => openApiGenerator('typescript-fetch', url, to)),
  },
  'oapi-codegen': {
    missing: () => missingTool('go', 'version') ?? missingTool('oapi-codegen'),
    play: inGo('oapi_codegen', oapi),
  },
  go: {
    missing: () => missingTool('go', 'version') ?? missingJava(),
    play: inGo('openapi_generator', (url, to) =>
      openApiGenerator('go', url, to, 'packageName=accounts,withGoMod=false'),
    ),
  },
  'openapi-python-client': {
    missing: () => missingModules('openapi_python_client', 'httpx', 'attrs'),
    play: inPython('openapi_python_client', pythonClient),
  },
  python: {
    missing: () => missingJava() ?? missingModules('pydantic', 'urllib3', 'dateutil'),
    play: inPython('openapi_generator', (url, to) => openApiGenerator('python', url, to, 'packageName=accounts')),
  },
  java: { missing: () => missingJava() ?? missingTool('javac'), play: inJava },
  rust: { missing: () => missingJava() ?? missingTool('cargo'), play: inRust },
};

export async function playLife(name: string, folder: string): Promise<void> {
  const own = join(folder, name);
  mkdirSync(own);
  await withService(own, async (stage) => expectPlayedToEnd((await lives[name]?.play(own, stage)) ?? ''));
}

function missingTool(program: string, question = '--version'): string | undefined {
  return spawnSync(program, [question], { stdio: 'ignore' }).error ? program : undefined;
}

function missingJava(): string | undefined {
  return javaVersion() < OLDEST_JAVA ? `Java ${OLDEST_JAVA}` : undefined;
}

function missingModules(...modules: string[]): string | undefined {
  const { status } = spawnSync(PYTHON, ['-c', `import ${modules.join(', ')}`], { stdio: 'ignore' });
  return status === 0 ? undefined : `${PYTHON} with ${modules.join(', ')}`;
}

async function openApiGenerator(generator: string, url: string, to: string, properties = ''): Promise<void> {
  const [jar = ''] = await jars('generator');
  const parts = ['apiDocs', 'modelDocs', 'apiTests', 'modelTests'].map((part) => `${part}=false`).join();
  const more = properties === '' ? [] : ['--additional-properties', properties];
  const args = [
    'generate',
    '-g',
    generator,
    '-i',
    `${url}/openapi.json`,
    '-o',
    to,
    '--global-property',
    parts,
    ...more,
  ];
  await java('-jar', jar, ...args);
}

async function heyApi(url: string, to: string): Promise<void> {
  await outputOf('openapi-ts', ['-i', `${url}/openapi.json`, '-o', to, '-c', '@hey-api/client-fetch']);
}

async function orval(url: string, to: string): Promise<void> {
  await outputOf('orval', ['--input', `${url}/openapi.json`, '--output', join(to, 'index.ts'), '--client', 'fetch']);
}

/** Compiles with all strict options of TypeScript. */
function inTypeScript(name: string, generate: (url: string, to: string) => Promise<void>): Play {
  return async (folder, { url, messages }) => {
    await generate(url, join(folder, 'client'));
    cpSync(join(LIVES, `${name}.ts`), join(folder, 'life.ts'));
    cpSync(join(LIVES, 'people.ts'), join(folder, 'people.ts'));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: STRICT, files: ['life.ts'] }));
    await outputOf(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder]);
    return outputOf(process.execPath, ['--require', TYPESCRIPT, join(folder, 'life.ts'), url, messages]);
  };
}

const STRICT = {
  strict: true,
  noEmit: true,
  target: 'es2022',
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['es2023', 'dom', 'dom.iterable'],
  types: ['node'],
};

async function oapi(url: string, to: string): Promise<void> {
  mkdirSync(to);
  const file = join(to, 'accounts.go');
  await outputOf('oapi-codegen', [
    '-generate',
    'types,client',
    '-package',
    'accounts',
    '-o',
    file,
    `${url}/openapi.json`,
  ]);
}

function inGo(name: string, generate: (url: string, to: string) => Promise<void>): Play {
  return async (folder, { url, messages }) => {
    const module = join(folder, 'accounts');
    await generate(url, module);
    writeFileSync(join(module, 'go.mod'), 'module accounts\ngo 1.24\n');
    mkdirSync(join(module, 'life'));
    cpSync(join(LIVES, `${name}.go`), join(module, 'life/main.go'));
    const go = (...args: string[]) => outputOf('go', ['-C', module, ...args]);
    await go('mod', 'tidy');
    await go('vet', '.', './life');
    return go('run', './life', url, messages);
  };
}

async function pythonClient(url: string, to: string): Promise<void> {
  const args = ['generate', '--url', `${url}/openapi.json`, '--meta', 'none', '--output-path', join(to, 'accounts')];
  mkdirSync(to);
  const warnings = (await outputOf(PYTHON, ['-m', 'openapi_python_client', ...args])).match(/^WARNING.*$/gm) ?? [];
  // Two warnings are expected, about images, whose bytes the client does not return.
  if (warnings.length > 2) throw new Error(warnings.join('\n'));
}

function inPython(name: string, generate: (url: string, to: string) => Promise<void>): Play {
  return async (folder, { url, messages }) => {
    const client = join(folder, 'client');
    await generate(url, client);
    return outputOf(PYTHON, [join(LIVES, `${name}.py`), url, messages], { PYTHONPATH: client });
  };
}

async function inJava(folder: string, { url, messages }: Stage): Promise<string> {
  const client = join(folder, 'client');
  const packages = 'invokerPackage=accounts,apiPackage=accounts.api,modelPackage=accounts.model';
  await openApiGenerator('java', url, client, `library=native,openApiNullable=false,${packages}`);
  const sources = join(client, 'src/main/java');
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.java'));
  const list = join(folder, 'sources');
  writeFileSync(list, [...files.map((file) => join(sources, file)), join(LIVES, 'Life.java')].join('\n'));
  const classPath = [...(await jars('java')), join(folder, 'classes')].join(':');
  await outputOf('javac', ['-nowarn', '-proc:none', '-cp', classPath, '-d', join(folder, 'classes'), `@${list}`]);
  return java('-cp', classPath, 'Life', url, messages);
}

/** Keeps compiled files in .cache, since compiling takes minutes. */
async function inRust(folder: string, { url, messages }: Stage): Promise<string> {
  await openApiGenerator('rust', url, join(folder, 'accounts'), 'packageName=accounts,library=reqwest');
  const crate = join(folder, 'life');
  mkdirSync(join(crate, 'src'), { recursive: true });
  cpSync(join(LIVES, 'Cargo.toml'), join(crate, 'Cargo.toml'));
  cpSync(join(LIVES, 'openapi_generator.rs'), join(crate, 'src/main.rs'));
  const env = { CARGO_TARGET_DIR: join(ROOT, '.cache/cargo') };
  return outputOf('cargo', ['run', '-q', '--manifest-path', join(crate, 'Cargo.toml'), url, messages], env);
}
