import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

export interface RecordedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  form: URLSearchParams;
  /** When it was there, by performance.now(). */
  at: number;
}

/** Faults of a vendor's server, independent of its API. */
export type Trouble =
  | 'hang' // takes the request and never answers
  | 'trickle' // answers with a byte at a time, for ever
  | 'reset' // cuts the connection off
  | 'garbage' // answers a success that is not JSON
  | 'empty' // answers a success without a body
  | 'half' // answers a success of which a part is missing, with a length that is right
  | 'foreign' // answers a success in JSON that is not the vendor's
  | 'gateway'; // answers 502 with a page, as a proxy in between does

export type Reply = { status: number; json: unknown; headers?: Record<string, string> } | { trouble: Trouble };

export interface VendorServer {
  url: string;
  requests: RecordedRequest[];
  /** Breaks the connections of requests for this path that have no answer yet, which are done all the same. */
  cut(path: string): void;
  close(): Promise<void>;
}

/** Imitates a vendor's HTTP API on loopback. It records each request, and answers with `reply`. */
export async function startVendorServer(
  successStatus: number,
  reply: (request: RecordedRequest) => Reply | Promise<Reply>,
): Promise<VendorServer> {
  const requests: RecordedRequest[] = [];
  const open = new Set<ServerResponse>();
  const server = createServer((req, res) => {
    open.add(res);
    res.on('close', () => open.delete(res));
    void record(req).then(async (request) => {
      requests.push(request);
      answer(await reply(request), successStatus, res);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the stand-in listens on no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    cut(path) {
      for (const res of open) if (res.req.url === path) res.socket?.resetAndDestroy();
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function record(req: IncomingMessage): Promise<RecordedRequest> {
  const body = await text(req);
  const { method = '', url = '', headers } = req;
  return { method, path: url, headers, body, form: new URLSearchParams(body), at: performance.now() };
}

function answer(reply: Reply, successStatus: number, res: ServerResponse): void {
  if ('trouble' in reply) return causeTrouble(reply.trouble, successStatus, res);
  res.writeHead(reply.status, { 'Content-Type': 'application/json', ...reply.headers });
  res.end(JSON.stringify(reply.json));
}

function causeTrouble(kind: Trouble, successStatus: number, res: ServerResponse): void {
  if (kind === 'reset') return void res.socket?.resetAndDestroy();
  if (kind === 'hang') return;
  res.writeHead(kind === 'gateway' ? 502 : successStatus, { 'Content-Type': 'application/json' });
  if (kind === 'half') return void res.end('{"code":200,"result":[{"id":"');
  if (kind === 'foreign') return void res.end('{"status":"ok"}');
  if (kind === 'empty') return void res.end();
  if (kind === 'garbage' || kind === 'gateway') return void res.end('<html>a proxy in between</html>');
  const drops = setInterval(() => res.write(' '), 20);
  res.on('close', () => clearInterval(drops));
}
