// One thread of the hashing pool. Plain JavaScript, so that it is loaded the same way from sources, compiled, and in tests.
const os = require('node:os');
const { parentPort } = require('node:worker_threads');
const bcrypt = require('bcrypt');

// On Linux this lowers the calling thread alone: whatever else the process has to do comes first.
if (process.platform === 'linux') os.setPriority(0, 1);

const operations = {
  hash: ({ password, cost }) => bcrypt.hashSync(password, cost),
  compare: ({ password, passwordHash, padding }) => {
    const matches = bcrypt.compareSync(password, passwordHash);
    for (const hash of padding) bcrypt.compareSync(password, hash);
    return matches;
  },
};

parentPort.on('message', (task) => {
  try {
    parentPort.postMessage({ result: operations[task.operation](task) });
  } catch (error) {
    parentPort.postMessage({ failure: error.message });
  }
});
