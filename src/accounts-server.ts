import type { Running } from './admin/admin-api';
import { buildContainer, type Container } from './composition/container';
import { pagePaths } from './composition/pages';
import type { Config } from './config/config';
import { isOutage } from './database/outage';
import { createHttpServer } from './http/http-server';
import { run, warn } from './run';
import { addressOf, listen } from './start/listening';

/** Warns of each number that takes a fixed code, or no longer does. */
async function warnOfTestNumbers({ services }: Container): Promise<void> {
  const lines = await services.testNumbers.lines().catch((error: unknown) => {
    if (!isOutage(error)) throw error;
    return [{ line: 'cannot be compared with the accounts, since the database is away' }];
  });
  for (const { line } of lines) warn(`TEST_NUMBERS: ${line}`);
}

/** Serves the admin API, where there is one. Its commands are loaded only there. */
async function serveAdmin(running: Running) {
  const { admin } = running.config;
  if (!admin) return undefined;
  const { buildAdminApi } = await import('./admin/admin-api');
  const api = buildAdminApi(running);
  const server = await listen(createHttpServer(api.app), { ...admin, prefix: 'ADMIN_' });
  return { server, url: addressOf(server, admin.host), close: () => api.close() };
}

/** A command to try requests an SMS only where none is really sent. */
function asking({ sms }: Config): string {
  return sms.reachesPhones ? '/readyz' : `/user/send_code -d '{"region": 44, "phone": "7911123456"}'`;
}

run(async ({ config, outside, metricsUrl }) => {
  const container = await buildContainer(config, outside, { metricsUrl });
  const prepare = async () => {
    await warnOfTestNumbers(container);
    return serveAdmin({ config, logger: outside.logger, services: container.services });
  };
  return { ...container, prepare, asking: asking(config), pages: pagePaths(config, outside.keys.inboxToken) };
});
