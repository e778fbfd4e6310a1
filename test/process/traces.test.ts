import { SHOW_MODULES } from '../support/service-process';
import { startCollector } from '../support/stand-ins/collector';
import { makeDataDir, startService } from '../support/started';

describe('a service', () => {
  // guard process-traces-1: the SDK of OpenTelemetry is not loaded without a collector
  // src/composition/open-traces.ts
  // - if (!settings) return undefined;
  // - const { Traces }
  // + await import('./traces');
  // + if (!settings) return undefined;
  // + const { Traces }
  it('does not load the SDK of OpenTelemetry without the address of a collector', async () => {
    const service = await (await startService({ DATA_DIR: makeDataDir(), NODE_OPTIONS: SHOW_MODULES })).untilReady();
    await service.stop();
    // The metrics' library loads the interface.
    expect(service.stdout).toMatch(/^Packages: (?!.*@opentelemetry\/(?!api))/m);
  });

  it('loads it with one, and sends the last spans when it stops', async () => {
    const collector = await startCollector();
    const env = { DATA_DIR: makeDataDir(), NODE_OPTIONS: SHOW_MODULES, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const service = await (await startService(env)).untilReady();
    await service.post('/user/login', { region: 44, phone: '7911123456', password: 'opensesame' });
    await service.stop();
    expect(service.stdout).toMatch(/^Packages: .*@opentelemetry\/sdk-trace/m);
    expect(collector.spans().map(({ name }) => name)).toContain('POST /user/login');
    await collector.close();
  });
});
