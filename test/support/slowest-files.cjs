// Prints the slowest files of a run, for developers who want to shorten it. A run of few files prints nothing.
const { relative } = require('node:path');

const MOST = 20;

module.exports = class SlowestFiles {
  onRunComplete(_contexts, { testResults }) {
    if (testResults.length <= MOST) return;
    const slowest = testResults.toSorted((one, other) => secondsOf(other) - secondsOf(one)).slice(0, MOST);
    const lines = slowest.map(
      (result) => `${secondsOf(result).toFixed(0).padStart(6)} s  ${relative(process.cwd(), result.testFilePath)}`,
    );
    process.stdout.write(`\nThe ${MOST} slowest files:\n${lines.join('\n')}\n`);
  }
};

function secondsOf({ perfStats: { start, end } }) {
  return (end - start) / 1_000;
}
