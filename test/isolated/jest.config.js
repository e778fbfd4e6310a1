// npm test -- --config test/isolated/jest.config.js: Jest as it is, where each file loads all modules for itself. Each night
// it shows whether a test passes only because of what another has left.
const base = require('../../jest.config.js');

/** @type {import('jest').Config} */
module.exports = {
  ...base,
  rootDir: '../..',
  runtime: 'jest-runtime',
  testEnvironment: 'node',
  // jose is published as an ES module only, and OpenTelemetry's exporter calls import(): Jest can do neither.
  transformIgnorePatterns: ['/node_modules/(?!(jose|@opentelemetry/otlp-exporter-base)/)'],
  testSequencer: '<rootDir>/test/isolated/random-order.cjs',
};
