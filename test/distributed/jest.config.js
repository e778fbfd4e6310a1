// npm run distributed-test: the tests of the API, on a Citus.
const base = require('../../jest.config.js');

/** @type {import('jest').Config} */
module.exports = {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/api/**/*.test.ts'],
  // Plans are those of one server.
  testPathIgnorePatterns: ['/query-plans\\.test'],
  globalSetup: '<rootDir>/test/distributed/setup.ts',
  globalTeardown: '<rootDir>/test/distributed/teardown.ts',
};
