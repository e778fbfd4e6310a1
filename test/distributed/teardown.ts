import { administer, TEMPLATE } from '../support/database';
import tearDownRun from '../support/global-teardown';

export default async function tearDown(): Promise<void> {
  const first = process.env.TEST_POSTGRES_URL ?? '';
  await administer(first, `ALTER DATABASE ${TEMPLATE} ALLOW_CONNECTIONS true`);
  await administer(first, `DROP DATABASE ${TEMPLATE} WITH (FORCE)`);
  await tearDownRun();
}
