// npm test: the tests that prove the contract, or those that words choose, by Jest: npm test -- test/api/auth/login
// npm run test:all: all tests.
// It retries files that fail, by themselves: on a busy machine a test can run out of time beside others.
import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { relative } from 'node:path';
import { root } from '../launch/dependencies.mjs';

const CONTRACT = ['test/unit', 'test/client', 'test/integrations', 'test/api'];

process.chdir(root);
process.env.NODE_ENV = 'test';
const require = createRequire(import.meta.url);
const { buildArgv, runCLI } = require('jest');
const { processorSeconds } = require('../../test/support/jest/processor.cjs');

const [flag, ...rest] = process.argv.slice(2);
const isAll = flag === '--all';
process.stdout.write('Running the tests on a PostgreSQL of their own …\n');
const argv = await buildArgv(isAll ? rest : process.argv.slice(2));
if (!isAll && argv._.length === 0) argv._ = CONTRACT;
const first = await jest(argv);
const isGood = first.isGood || (await again(first));
process.stdout.write(`These tests took ${processorSeconds().toFixed(0)} s of processor.\n`);
process.exit(isGood ? 0 : 1);

async function jest(options) {
  const { results } = await runCLI(options, [root]);
  const failed = results.testResults.filter(
    ({ numFailingTests, testExecError }) => numFailingTests > 0 || testExecError,
  );
  const files = failed.map(({ testFilePath }) => relative(root, testFilePath));
  return { isGood: results.success, failed: files, count: results.numTotalTestSuites };
}

/** Retries failed files. A single file ran by itself already. */
async function again({ failed, count }) {
  if (failed.length === 0 || count === 1) return false;
  process.stdout.write(`\nAgain, by themselves: ${failed.join(', ')}\n`);
  const second = await jest({
    ...argv,
    _: failed,
    runTestsByPath: true,
    runInBand: true,
    json: false,
    outputFile: undefined,
  });
  const passed = failed.filter((file) => !second.failed.includes(file));
  if (passed.length > 0) report(`Passed only by themselves: ${passed.join(', ')}`);
  return second.isGood;
}

/** Prints the line, and keeps it for the last lines of .ci/run. */
function report(line) {
  process.stdout.write(`${line}\n`);
  if (process.env.TEST_REPORT) appendFileSync(process.env.TEST_REPORT, `${line}\n`);
}
