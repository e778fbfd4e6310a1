// npm run owners: the tests of the API, in databases that note each statement which touches rows of two owners.
const base = require('../../jest.config.js');

/** @type {import('jest').Config} */
module.exports = {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/api/**/*.test.ts'],
  // Their statements are those of other tests, but noting takes time, which matters to races, and changes plans.
  testPathIgnorePatterns: ['races', 'storms', 'random', 'convergence', 'query-plans'],
  globalSetup: '<rootDir>/test/owners/setup.ts',
  globalTeardown: '<rootDir>/test/owners/teardown.ts',
};
