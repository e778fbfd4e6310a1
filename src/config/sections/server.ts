import { httpUrl, oneOf, share, text, whole } from '../../base/formats';
import { rows, type Section, type Values } from '../../base/settings';
import { isPrivateHost } from '../../features/profile/portrait-host';
import { headers } from '../formats';

const port = whole(0, 65_535);

// prettier-ignore
const PROCESS = rows({
  NODE_ENV: { kind: oneOf('development', 'test', 'production'), default: 'development',
    says: 'development, test or production. production turns the strict defaults on.' },
  HOST: { kind: text, default: '127.0.0.1', says: 'Address and port to listen on. The container uses 0.0.0.0.' },
  PORT: { kind: port, default: 8585 },
  DATA_DIR: { kind: text, default: '.data',
    says: 'Folder of the embedded database, local uploads, and the keys that development generates' },
  LOG_LEVEL: { kind: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'), default: 'info',
    says: 'trace, debug, info, warn, error, fatal or silent' },
  LEAVE_SECONDS: { kind: whole(0, 600), default: 0, production: 3,
    says: `Seconds after SIGTERM in which /readyz answers 503 and all other requests are still served, before the port
      is closed. Set it longer than a load balancer takes to notice and send requests elsewhere.` },
  METRICS_PORT: { kind: port,
    says: `Where Prometheus reads metrics (docs/metrics.md): http://METRICS_HOST:METRICS_PORT/metrics. Keep it away from
      the public: it tells how busy the service is. Must not be PORT. Default in production: no metrics. Default
      elsewhere: a free port, printed at the start.` },
  METRICS_HOST: { kind: text, default: '127.0.0.1' },
  ADMIN_PORT: { kind: port,
    says: `Where operators and their programs call the commands of npm run admin over HTTP, with tokens
      (docs/admin-api.md). Keep it away from the public: it is plain HTTP. Must not be PORT or METRICS_PORT. Default: no
      admin API.` },
  ADMIN_HOST: { kind: text, default: '127.0.0.1' },
  AUDIT_DAYS: { kind: whole(1, 3_650), default: 180,
    says: `Days that the audit trail (table security_events) keeps an event, with the caller's IP and user agent. A
      value below 30 also needs permission from the owner of the tables: UPDATE security_events_kept SET days = 7` },
});

// prettier-ignore
const TRACES = rows({
  OTEL_EXPORTER_OTLP_ENDPOINT: { kind: httpUrl,
    says: `Address of a collector that takes OTLP over HTTP (port 4318) and not gRPC (4317), to which /v1/traces is
      added. Default: no traces.` },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: { kind: httpUrl, says: 'Complete address for traces, in place of the above.' },
  OTEL_EXPORTER_OTLP_HEADERS: { kind: headers, secret: true,
    says: "Headers with a vendor's key, separated by commas, such as `authorization=Bearer%20…`" },
  OTEL_SERVICE_NAME: { kind: text, default: 'user-account-service', says: 'Name of this service in traces.' },
  OTEL_TRACES_SAMPLER_ARG: { kind: share, default: 1, says: 'Share of the requests that are traced, from 0 to 1.' },
});

export const SECTIONS: Section[] = [
  { title: 'Where it runs', rows: PROCESS },
  { title: 'Traces for OpenTelemetry: docs/tracing.md', rows: TRACES, unfit: unfitCollector },
];

export const ROWS = rows({ ...PROCESS, ...TRACES });

type Env = Values<typeof PROCESS>;

export function metricsOf(env: Env, mistakes: string[]) {
  const { METRICS_HOST: host, METRICS_PORT: given } = env;
  const port = given ?? (isProduction(env) ? undefined : 0);
  mistakes.push(...sharedPorts(env, 'METRICS_PORT', ['PORT']));
  return port === undefined ? undefined : { host, port };
}

/** Returns where the admin API listens. */
export function adminOf(env: Env, mistakes: string[]) {
  const { ADMIN_HOST: host, ADMIN_PORT: port } = env;
  if (port === undefined) return undefined;
  mistakes.push(...sharedPorts(env, 'ADMIN_PORT', ['PORT', 'METRICS_PORT']));
  return { host, port };
}

/** Refuses one port for two audiences. 0 is a free one. */
function sharedPorts(env: Env, name: 'METRICS_PORT' | 'ADMIN_PORT', others: ('PORT' | 'METRICS_PORT')[]) {
  return others
    .filter((other) => env[name] !== undefined && env[name] !== 0 && env[name] === env[other])
    .map((other) => `${name}: must not be ${other}, which has other readers: choose another port`);
}

export function tracesOf(env: Values<typeof TRACES>) {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = env;
  const url = own ?? (base && `${base}/v1/traces`);
  const headers = env.OTEL_EXPORTER_OTLP_HEADERS ?? {};
  return url ? { url, headers, serviceName: env.OTEL_SERVICE_NAME, share: env.OTEL_TRACES_SAMPLER_ARG } : undefined;
}

function unfitCollector(env: Values<typeof TRACES>): string[] {
  const addresses = [env.OTEL_EXPORTER_OTLP_ENDPOINT, env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT];
  if (env.OTEL_EXPORTER_OTLP_HEADERS === undefined || !addresses.some(isReadOnTheWay)) return [];
  return ['OTEL_EXPORTER_OTLP_ENDPOINT: must start with https://, the key in OTEL_EXPORTER_OTLP_HEADERS is sent there'];
}

/** A host without a dot is in the network of the containers. */
function isReadOnTheWay(address = ''): boolean {
  if (!address.startsWith('http:')) return false;
  const { hostname } = new URL(address);
  return hostname.includes('.') && !isPrivateHost(hostname);
}

export function isProduction({ NODE_ENV }: Pick<Env, 'NODE_ENV'>): boolean {
  return NODE_ENV === 'production';
}
