// One thread of the hashing pool. Plain JavaScript loads the same way from sources, from compiled code, and in tests.
const os = require('node:os');
const { parentPort } = require('node:worker_threads');
const bcrypt = require('bcrypt');

// On Linux this lowers only the calling thread: all other work of the process goes first. It goes one below the process's
// own priority: a process that was started with nice 5 may not go up to a fixed one.
if (process.platform === 'linux') os.setPriority(0, Math.min(19, os.getPriority(0) + 1));

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
