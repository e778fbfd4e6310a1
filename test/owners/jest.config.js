// npm run owners: the tests of the API, in databases that note each statement which touches rows of two owners.
const base = require('../../jest.config.js');

/** @type {import('jest').Config} */
module.exports = {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/api/**/*.test.ts'],
  // Left out: noting takes time, which upsets races, and changes plans. Other tests run the same statements.
  testPathIgnorePatterns: ['-(races|storms|random|convergence)\\.test', '/query-plans\\.test'],
  globalSetup: '<rootDir>/test/owners/setup.ts',
  globalTeardown: '<rootDir>/test/owners/teardown.ts',
};
