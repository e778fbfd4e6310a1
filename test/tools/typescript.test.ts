import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, TYPESCRIPT } from '../support/service-process';

let folder: string;
const inFolder = (name: string) => join(folder, name);
const write = (name: string, text: string) => writeFileSync(inFolder(name), text);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'typescript-'));
  mkdirSync(inFolder('scripts/launch'), { recursive: true });
  copyFileSync(TYPESCRIPT, inFolder('scripts/launch/typescript.cjs'));
  symlinkSync(join(ROOT, 'node_modules'), inFolder('node_modules'));
  write('program.ts', `import { word } from './word';\nvoid import('./word').then(() => console.log(word as string));`);
  write('word.ts', `export const word = 'one';`);
});
afterEach(() => rmSync(folder, { recursive: true }));

async function run(): Promise<string> {
  const args = ['--require', inFolder('scripts/launch/typescript.cjs'), inFolder('program.ts')];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: folder });
  return stdout + stderr;
}
const kept = () => readdirSync(inFolder('.cache/compiled')).map((name) => inFolder(`.cache/compiled/${name}`));

describe('compiled sources', () => {
  // guard typescript-1: a compiled source is used only while its file is whole and the source is the same
  // scripts/launch/typescript.cjs
  // - if (found.endsWith(end)) return found;
  // + if (found) return found;
  it('are kept once each, and made again when a source has changed or the file is not whole', async () => {
    expect(await Promise.all([run(), run(), run()])).toEqual(Array(3).fill('one\n'));
    write('word.ts', `export const word: string = 'two';`);
    write('.cache/compiled/gone.ts', '');
    expect(await run()).toBe('two\n');
    expect(kept()).toHaveLength(2);
    for (const file of kept()) writeFileSync(file, readFileSync(file, 'utf8').slice(0, -1));
    expect(await run()).toBe('two\n');
  });

  // guard typescript-2: a service starts where it may not write
  // scripts/launch/typescript.cjs
  // - } catch {
  // -   // The disk is full, or this user may not write there.
  // + } catch (error) {
  // +   throw error;
  it('are not needed: a process that cannot keep them runs without', async () => {
    write('.cache', 'not a folder');
    expect(await run()).toBe('one\n');
  });

  it('are those that the next process runs, and an error in them names the line of its source', async () => {
    await run();
    for (const file of kept()) writeFileSync(file, readFileSync(file, 'utf8').replace('one', 'kept'));
    expect(await run()).toBe('kept\n');
    write('word.ts', `interface Word {\n  text: string;\n}\nexport const word: Word = JSON.parse('{');`);
    for (let time = 0; time < 2; time += 1) await expect(run()).rejects.toThrow(/word\.ts:4:\d+\)/);
  });
});
