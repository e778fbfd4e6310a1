import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { OUTPUT } from '../paths';
import { until } from '../until';
import { startVendorServer, type Trouble, type VendorServer } from './vendor-server';

export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  status: { code: number };
}

/** `accept`, a status that refuses, or a broken connection. */
type CollectorBehaviour = 'accept' | { status: number } | Trouble;

export interface Collector extends VendorServer {
  /** Returns the spans that it has received. */
  spans(): Span[];
  /** Returns the whole trace of a request, once its own span has arrived. The span of the request is the first. */
  traceOf(requestId: unknown): Promise<Span[]>;
  /** Sets its behaviour for all later requests. */
  behave(behaviour: CollectorBehaviour): void;
}

interface Attribute {
  key: string;
  value: Record<string, unknown>;
}

interface Export {
  resourceSpans: { scopeSpans: { spans: (Omit<Span, 'attributes'> & { attributes: Attribute[] })[] }[] }[];
}

/** Imitates a collector of OpenTelemetry, which takes spans by OTLP over HTTP, in JSON. */
export async function startCollector(): Promise<Collector> {
  let behaviour: CollectorBehaviour = 'accept';
  // Searched for secrets at the end of the run, like all logs.
  const log = join(OUTPUT, `log-spans-${randomBytes(5).toString('hex')}.ndjson`);
  const server = await startVendorServer(200, ({ body }) => {
    appendFileSync(log, `${body}\n`);
    if (behaviour === 'accept') return { status: 200, json: {} };
    return typeof behaviour === 'string' ? { trouble: behaviour } : { ...behaviour, json: {} };
  });
  const spans = () => server.requests.flatMap(({ body }) => spansIn(body));
  const rootOf = (requestId: unknown) =>
    spans().find(({ attributes }) => attributes['accounts.request_id'] === requestId);
  return {
    ...server,
    spans,
    async traceOf(requestId) {
      await until(() => rootOf(requestId) !== undefined);
      const root = rootOf(requestId);
      const others = spans().filter(({ traceId, spanId }) => traceId === root?.traceId && spanId !== root.spanId);
      return root ? [root, ...others] : [];
    },
    behave(next) {
      behaviour = next;
    },
  };
}

function spansIn(body: string): Span[] {
  const { resourceSpans } = JSON.parse(body) as Export;
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    .map((span) => ({ ...span, attributes: Object.fromEntries(span.attributes.map(fieldOf)) }));
}

/** Numbers arrive as numbers or, where they are large, as texts. */
function fieldOf({ key, value }: Attribute): [string, unknown] {
  return [key, Object.values(value)[0]];
}
