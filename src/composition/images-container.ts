import type { Config } from '../config/config';
import { buildAudit } from '../features/audit/build-audit';
import { buildImages } from '../features/images/build-images';
import { buildLimits } from '../features/limits/build-limits';
import { createApp } from '../http/app';
import { errorHandler, failWith } from '../http/error-handler';
import { Health, healthRouter } from '../http/health-router';
import { openFoundation, type Outside } from './open-foundation';
import { Parts } from './parts';

/** Builds a process that only stores images, of accounts that other instances serve. */
export async function buildImagesContainer(config: Config, outside: Outside) {
  const { logger, observers } = outside;
  const base = openFoundation(config, outside);
  const { connections } = base;
  await connections.learn();
  const limits = buildLimits(base, config.limits);
  const audit = buildAudit({ ...base, ...limits }, config.auditDays);
  const images = await buildImages({ ...base, ...limits }, config.storage);
  // The other instances sweep limits and events.
  const figures = [...limits.part.figures, ...audit.part.figures];
  const parts = new Parts([{ figures }, images.part, { sweeps: [images.removing] }], base);

  const health = new Health(connections.probe, connections.reading.replica);
  const routers = [{ router: healthRouter(health) }, { router: images.uploads }];
  const onError = errorHandler(failWith(logger));
  const appDeps = { routers, onError, logger, observe: observers?.request, enclose: observers?.enclose };
  return {
    app: createApp(appDeps, config.http),
    services: { ...base, parts },
    announceStop: () => health.announceStop(),
    close: () => parts.close(),
  };
}
