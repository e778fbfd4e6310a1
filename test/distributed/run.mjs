// npm run distributed-test: the tests of the API, on the Citus at CITUS_URL. Without one it says so, and is not red.
if (process.env.CITUS_URL) {
  process.argv.splice(2, 0, '--config', 'test/distributed/jest.config.js');
  await import('../../scripts/check/test.mjs');
} else
  process.stdout.write(
    'The tests are NOT run on several servers: set CITUS_URL to the address of a Citus, as its superuser (docs/distributed.md).\n',
  );
