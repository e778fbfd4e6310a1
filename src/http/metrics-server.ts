import { createServer, type Server, type ServerResponse } from 'node:http';
import { isIP } from 'node:net';

/** Metrics in the form of a Prometheus server's questions. */
export interface MetricsSource {
  contentType: string;
  /** Reads all figures now. */
  text(): Promise<string>;
}

const PATH = '/metrics';

/** Endings of names that cannot be registered. */
const PRIVATE = /\.(localhost|local|internal|lan|svc)$/;

/**
 * Makes the server of METRICS_PORT. It is separate from the public one, so that no proxy leads anyone to it. Refuses
 * foreign names: a page in an operator's browser could make its own name lead here, and would read the answer.
 */
export function createMetricsServer(source: MetricsSource, host = ''): Server {
  return createServer((req, res) => {
    if (!isOwn(req.headers.host, host)) answer(res, 403, 'text/plain', 'Host: use an address, or METRICS_HOST\n');
    else if (req.url !== PATH) answer(res, 404, 'text/plain', `metrics are at ${PATH}\n`);
    else if (req.method !== 'GET') answer(res, 405, 'text/plain', `${PATH} takes GET\n`);
    else
      source.text().then(
        (text) => answer(res, 200, source.contentType, text),
        () => answer(res, 500, 'text/plain', 'the metrics could not be read\n'),
      );
  });
}

/** Returns whether a Host is an IP address, the configured name, or a name that is not of the internet. */
function isOwn(given: string | undefined, host: string): boolean {
  // Browsers always send one.
  if (given === undefined) return true;
  const name = given
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  return isIP(name) !== 0 || !name.includes('.') || name === host.toLowerCase() || PRIVATE.test(name);
}

function answer(res: ServerResponse, status: number, type: string, text: string): void {
  res.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(text);
}
