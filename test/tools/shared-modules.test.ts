import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../support/service-process';

/** A test file that leaves everything in disorder, and fails unless it found everything in order. */
const FILE = `
import { errorForLog } from '${ROOT}/src/base/logger';

it('finds the scope in order', () => {
  expect([process.env.LEFT, process.cwd()]).toEqual([undefined, process.env.WHERE]);
  expect([Math.random, setTimeout, console.log, process.exit].filter(({ mock, clock }) => mock || clock)).toEqual([]);
  expect(process.listeners('exit').filter(({ name }) => name === 'left')).toEqual([]);

  const loaded = errorForLog as typeof errorForLog & { uses?: number };
  loaded.uses = (loaded.uses ?? 0) + 1;
  process.stderr.write('use ' + loaded.uses + ' of the module\\n');
  const handlers = Reflect.get(globalThis, Symbol.for('EVENT_HANDLERS')) as unknown[];
  process.stderr.write(handlers.length + ' handlers of events\\n');
  process.env.LEFT = '1';
  process.chdir('/');
  process.once('exit', function left() {});
  for (const [object, name] of [[Math, 'random'], [console, 'log'], [process, 'exit']] as const)
    jest.spyOn(object as Console, name as 'log').mockImplementation(() => {});
  jest.useFakeTimers();
});
`;
const LEAVES_A_GLOBAL = `it('makes a global', () => void Object.assign(globalThis, { left: 1 }));`;

describe('the test files of a worker', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'shared-modules-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Runs the files serially, in one process. */
  function run(files: Record<string, string>): { status: number | null; said: string } {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.test.ts`), text);
    const swc = [join(ROOT, 'node_modules/@swc/jest'), { jsc: { parser: { syntax: 'typescript' } } }];
    const [environment, runtime] = ['environment', 'runtime'].map((name) =>
      join(ROOT, `test/support/jest/${name}.cjs`),
    );
    const config = { rootDir: folder, transform: { '\\.ts$': swc }, testEnvironment: environment, runtime };
    const args = [join(ROOT, 'node_modules/jest/bin/jest.js'), '-i', '--config', JSON.stringify(config)];
    const env = { ...process.env, WHERE: folder };
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' });
    return { status, said: stderr };
  }

  // guard shared-modules-1: the files of a worker load a module of src once
  // test/support/jest/runtime.cjs
  // - SHARED.test(path) ? path : undefined
  // + undefined
  // guard shared-modules-2: a file finds the environment as it was
  // test/support/jest/environment.cjs
  // - if (!(name in env)) delete process.env[name];
  // + {}
  // guard shared-modules-3: spies end with their file
  // test/support/jest/runtime.cjs
  // - super.teardown();
  it('load the modules of src once, and find nothing that another file has left', () => {
    const { status, said } = run({ one: FILE, another: FILE });
    expect(said).toMatch(/^use 1 of the module$[^]*^use 2 of the module$/m);
    expect(new Set(said.match(/^\d+ handlers of events$/gm)).size).toBe(1);
    expect({ status, said }).toMatchObject({ status: 0 });
  });

  // guard shared-modules-4: a file that leaves a global fails
  // test/support/jest/environment.cjs
  // - if (left.length > 0) throw
  // + if (false) throw
  it('fail when they leave a global, which is gone for the next one', () => {
    const { status, said } = run({ one: LEAVES_A_GLOBAL, another: LEAVES_A_GLOBAL });
    expect(said.match(/must delete the globals that it makes: left$/gm)).toHaveLength(2);
    expect(status).toBe(1);
  });
});
