import { createServer, type Server, type ServerResponse } from 'node:http';

/** Metrics in the form of a Prometheus server's questions. */
export interface Shown {
  contentType: string;
  /** Reads all figures now. */
  text(): Promise<string>;
}

const PATH = '/metrics';

/** Makes the server of METRICS_PORT. It is separate from the public one, so that no proxy leads anyone to it. */
export function createMetricsServer(shown: Shown): Server {
  return createServer((req, res) => {
    if (req.url !== PATH) answer(res, 404, 'text/plain', `metrics are at ${PATH}\n`);
    else if (req.method !== 'GET') answer(res, 405, 'text/plain', `${PATH} takes GET\n`);
    else
      shown.text().then(
        (text) => answer(res, 200, shown.contentType, text),
        () => answer(res, 500, 'text/plain', 'the metrics could not be read\n'),
      );
  });
}

function answer(res: ServerResponse, status: number, type: string, text: string): void {
  res.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(text);
}
