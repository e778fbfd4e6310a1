const { createHash, randomInt } = require('node:crypto');
const { default: Sequencer } = require('@jest/test-sequencer');

const seed = process.env.TEST_ORDER ?? String(randomInt(1_000_000));

/** Runs files in a random order: npm test -- --testSequencer ./test/isolated/random-order.cjs */
module.exports = class RandomOrder extends Sequencer {
  sort(tests) {
    process.stdout.write(`TEST_ORDER=${seed} repeats this order of files.\n`);
    const place = ({ path }) => createHash('sha256').update(`${seed} ${path}`).digest('hex');
    return tests.toSorted((one, other) => (place(one) < place(other) ? -1 : 1));
  }
};
