import type { Logger } from 'pino';
import type { Traces, TraceSettings } from './traces';

/** Loads OpenTelemetry only where traces are on: it is large, and slow to load. */
export async function openTraces(settings: TraceSettings | undefined, logger: Logger): Promise<Traces | undefined> {
  if (!settings) return undefined;
  const { Traces } = await import('./traces');
  return new Traces(settings, logger);
}
