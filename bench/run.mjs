// npm run bench: measures the compiled service beside a floor and beside other software. See docs/benchmark.md.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { root } from '../scripts/launch/dependencies.mjs';
import { earlierBuild } from './against.mjs';
import { hasWrk } from './load.mjs';
import { readOptions } from './options.mjs';

const options = readOptions(process.argv.slice(2));
if (options) await run();

async function run() {
  await prepare();
  // Imported only now: their dependencies have just been installed and built.
  const { Bench } = await import('./bench.mjs');
  const { report } = await import('./report.mjs');
  const bench = new Bench(options);
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => void bench.stop().finally(() => process.exit(1)));
  try {
    await bench.start();
    const results = {};
    for (const name of options.scenarios) await bench.play(name).then((result) => (results[name] = result), failed);
    if (!(await report(bench, results))) process.exitCode = 1;
  } finally {
    await bench.stop();
  }
}

/** A scenario that breaks off fails the run, and leaves the results of the others. */
function failed(error) {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
}

async function prepare() {
  // Neither the short check nor a comparison runs other software.
  const isAlone = options.short || options.against !== undefined;
  const needed = isAlone ? !hasWrk && 'autocannon' : 'parse-server';
  const folder = `${root}/bench`;
  if (needed && !existsSync(`${folder}/node_modules/${needed}`))
    command('npm', ['ci', '--no-audit', '--no-fund', ...(isAlone ? ['--omit=optional'] : [])], folder);
  command(process.execPath, ['scripts/release/build.mjs'], root);
  if (options.against) options.earlier = await earlierBuild(options.against);
}

function command(name, args, cwd) {
  const { status } = spawnSync(name, args, { cwd, stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) process.exit(1);
}
