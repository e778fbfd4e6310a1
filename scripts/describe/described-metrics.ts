import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../src/base/logger';
import { Metrics } from '../../src/composition/metrics';
import { buildServices } from '../../src/composition/services';
import { readConfig } from '../../src/config/config';
import { loadKeys } from '../../src/start/keys';

/** Returns the metrics of a service whose database is away. They have all names, and few values. */
export async function describedMetrics(): Promise<Metrics> {
  const dataDir = mkdtempSync(join(tmpdir(), 'accounts-metrics-'));
  const { config } = readConfig({ DATA_DIR: dataDir });
  const logger = createLogger('silent', { write: () => undefined });
  const outside = { databaseUrl: 'postgresql://service@127.0.0.1:1/nothing', keys: loadKeys(config), logger };
  const services = await buildServices(config, outside);
  const metrics = new Metrics();
  metrics.watch(services);
  await services.parts.close();
  rmSync(dataDir, { recursive: true });
  return metrics;
}
