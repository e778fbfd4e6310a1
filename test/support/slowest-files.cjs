// Prints the files of a run that took most of the processor, for developers who want to shorten it. A run of few files
// prints nothing.
const { existsSync, readFileSync, readdirSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join, relative } = require('node:path');
const { countProcess } = require('./jest/processor.cjs');

const MOST = 20;

module.exports = class SlowestFiles {
  onRunComplete(_contexts, { testResults }) {
    const pidFile = join(tmpdir(), 'run', 'postgres', 'postmaster.pid');
    if (existsSync(pidFile)) countProcess(parseInt(readFileSync(pidFile, 'utf8'), 10));
    if (testResults.length <= MOST) return;
    const processor = processorOfFiles();
    const rows = testResults.map(({ testFilePath: path, perfStats: { start, end } }) => {
      return { path, seconds: (end - start) / 1_000, processor: processor.get(path) ?? 0 };
    });
    const lines = rows
      .sort((one, other) => other.processor - one.processor)
      .slice(0, MOST)
      .map((row) => {
        const [processor, all] = [row.processor.toFixed(1).padStart(6), row.seconds.toFixed(0).padStart(5)];
        return `${processor} s of ${all} s  ${relative(process.cwd(), row.path)}`;
      });
    process.stdout.write(
      `\nThe ${MOST} files that took most of the processor, without the database:\n${lines.join('\n')}\n`,
    );
  }
};

/** Reads what the environment of each file has noted. */
function processorOfFiles() {
  const folder = join(__dirname, '..', '..', '.test-output', process.env.TEST_RUN);
  const files = readdirSync(folder).filter((name) => name.startsWith('processor-'));
  const lines = files.flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'));
  return new Map(lines.map((line) => /^(\S+) (.*)$/.exec(line)).map(([, seconds, path]) => [path, Number(seconds)]));
}
