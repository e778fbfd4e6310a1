/** @type {import('jest').Config} */
module.exports = {
  testMatch: ['<rootDir>/{test,packages/*/test}/**/*.test.ts'],
  transform: {
    '\\.c?[jt]s$': [
      '@swc/jest',
      {
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
  // The test files of a worker share loaded modules. test/isolated is the same without that.
  testEnvironment: '<rootDir>/test/support/jest/environment.cjs',
  runtime: '<rootDir>/test/support/jest/runtime.cjs',
  reporters: ['default', '<rootDir>/test/support/slowest-files.cjs'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  modulePathIgnorePatterns: [
    '<rootDir>/dist/',
    '<rootDir>/.data/',
    '<rootDir>/.test-output/',
    '<rootDir>/.cache/',
    '<rootDir>/packages/client/dist/',
  ],
  // Only ends tests that hang: under a load of twenty, a test of seconds takes minutes.
  testTimeout: 600_000,
  // Also on two processors: for almost half of the time a worker waits, for processes to start or answers that do not
  // come.
  maxWorkers: 4,
};
