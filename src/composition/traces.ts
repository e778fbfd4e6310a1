import { AsyncLocalStorage } from 'node:async_hooks';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Link,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Request, RequestHandler } from 'express';
import type { Logger } from 'pino';
import { codeOf } from '../base/errors';
import type { StatementObserver } from '../database/pool';
import { HEALTH, type RequestObserver } from '../http/request-log';
import type { CallObserver } from '../integrations/calls';
import { withTimeout } from '../load/timeout';
import type { Observers } from './observers';

export interface TraceSettings {
  /** Address that spans are sent to. */
  url: string;
  headers: Record<string, string>;
  serviceName: string;
  /** Share of the requests that are traced. */
  share: number;
}

/** A request that is traced. */
interface Traced {
  span: Span;
  /** Parent of its statements and calls. */
  context: Context;
  /** Time of performance.now() zero: the same for all spans of a trace, so that they do not overlap. */
  epoch: number;
}

/** Pause between batches, so that an operator who tries something soon sees its trace. */
const SEND_EVERY_MS = 1_000;
/** Longest wait for the collector when the service stops. */
const CLOSE_MS = 1_000;

/** Header of W3C Trace Context. */
const TRACEPARENT = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(?:-|$)/;

/**
 * Traces for OpenTelemetry: a span for each request, with a span for each of its statements and calls to vendors.
 * Spans contain names that stand in the source, results and times: nothing that a client sent.
 *
 * Importing this module loads OpenTelemetry.
 */
export class Traces implements Observers {
  /** The current request. Statements and calls outside of requests are not traced. */
  private readonly current = new AsyncLocalStorage<Traced>();
  private readonly requests = new WeakMap<Request, Traced>();
  private readonly provider: TracerProvider;
  private readonly tracer: Tracer;

  constructor({ url, headers, serviceName, share }: TraceSettings, logger: Pick<Logger, 'warn'>) {
    const exporter = new LoggedExporter({ url, headers }, logger);
    this.provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.name': serviceName }),
      // It decides only by the trace's id, so that all spans of a trace are sent or none.
      sampler: new TraceIdRatioBasedSampler(share),
      spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: SEND_EVERY_MS })],
    });
    this.tracer = this.provider.getTracer('user-account-service');
  }

  readonly enclose: RequestHandler = (req, _res, next) => {
    if (HEALTH.includes(req.path)) {
      next();
      return;
    }
    const epoch = Date.now() - performance.now();
    const options = { kind: SpanKind.SERVER, startTime: epoch + req.begun, links: linksOf(req) };
    const span = this.tracer.startSpan(req.method, options, ROOT_CONTEXT);
    if (!span.isRecording()) {
      next();
      return;
    }
    const traced = { span, context: trace.setSpan(ROOT_CONTEXT, span), epoch };
    this.requests.set(req, traced);
    req.traceId = span.spanContext().traceId;
    this.current.run(traced, next);
  };

  readonly request: RequestObserver = ({ operation, outcome, reason, seconds }, req) => {
    const traced = this.requests.get(req);
    if (!traced) return;
    const { span, epoch } = traced;
    const { method, id, begun, res } = req;
    span.updateName(`${method} ${operation}`);
    span.setAttributes({
      'http.request.method': method,
      'http.route': operation,
      'url.scheme': req.secure ? 'https' : 'http',
      'accounts.request_id': id,
      'accounts.outcome': outcome,
    });
    if (outcome !== 'aborted' && res) span.setAttribute('http.response.status_code', res.statusCode);
    if (reason !== undefined) span.setAttribute('accounts.reason', reason);
    if (outcome === 'failed') fail(span, reason ?? 'unknown');
    span.end(epoch + begun + seconds * 1_000);
  };

  readonly statement: StatementObserver = (connections, seconds, statement, failure) => {
    const name = summaryOf(statement);
    const attributes = {
      'db.system.name': 'postgresql',
      'db.query.summary': name,
      'accounts.connections': connections,
    };
    this.addChild(name, seconds, attributes, failure === undefined ? undefined : kindOf(failure));
  };

  readonly call: CallObserver = ({ host, seconds, status, failure }) => {
    const attributes = {
      'http.request.method': 'POST',
      'server.address': host,
      ...(status !== undefined && { 'http.response.status_code': status }),
    };
    const error = status === undefined ? kindOf(failure) : status >= 400 ? String(status) : undefined;
    this.addChild(`POST ${host}`, seconds, attributes, error);
  };

  /** Sends the spans that wait. */
  async close(): Promise<void> {
    await withTimeout(this.provider.shutdown(), CLOSE_MS).catch(() => undefined);
  }

  /** Adds a span for something that ends now. */
  private addChild(name: string, seconds: number, attributes: Attributes, error: string | undefined): void {
    const traced = this.current.getStore();
    if (!traced) return;
    const end = traced.epoch + performance.now();
    const options = { kind: SpanKind.CLIENT, startTime: end - seconds * 1_000, attributes };
    const span = this.tracer.startSpan(name, options, traced.context);
    if (error !== undefined) fail(span, error);
    span.end(end);
  }
}

/** Logs when the collector does not take spans, and when it takes them again. */
class LoggedExporter extends OTLPTraceExporter {
  private isAway = false;

  constructor(
    settings: { url: string; headers: Record<string, string> },
    private readonly logger: Pick<Logger, 'warn'>,
  ) {
    super(settings);
  }

  override export(...[spans, done]: Parameters<OTLPTraceExporter['export']>): void {
    super.export(spans, (result) => {
      const isAway = result.error !== undefined;
      if (isAway && !this.isAway) this.logger.warn({ err: result.error }, 'traces cannot be sent, and are dropped');
      if (!isAway && this.isAway) this.logger.warn('traces can be sent again');
      this.isAway = isAway;
      done(result);
    });
  }
}

/**
 * Links the trace of the client, if it sent one. It is not continued, because a client could then choose which of its
 * requests are traced, and mix them into traces of others.
 */
function linksOf(req: Request): Link[] {
  const [, traceId, spanId] = TRACEPARENT.exec(req.get('traceparent') ?? '') ?? [];
  return traceId && spanId ? [{ context: { traceId, spanId, traceFlags: 0, isRemote: true } }] : [];
}

function fail(span: Span, error: string): void {
  span.setAttribute('error.type', error);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Returns the name of a statement or, of one without a name, its verb and its table. */
function summaryOf(statement: string): string {
  if (/^[\w-]+$/.test(statement)) return statement;
  const [verb = ''] = /\w+/.exec(statement) ?? [];
  const [, table] = /\b(?:from|into|update) "?(\w+)/i.exec(statement) ?? [];
  return [verb.toUpperCase(), table].filter(Boolean).join(' ');
}

/** Returns the kind of an error, without its message, which may contain data of users. */
function kindOf(error: unknown): string {
  return codeOf(error) ?? (error instanceof Error ? error.name : 'unknown');
}
