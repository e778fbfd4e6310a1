import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import type { Express, Request, Response } from 'express';
import { REASONS, type Reason } from '../base/reasons';
import { classesFor } from './express-prototypes';
import { closeSlowReaders, type Pace } from './slow-readers';

const REFUSALS: Record<string, [reason: Reason, message: string]> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'headers too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_too_slow', 'the request took too long'],
};

/** Maximum connections in the backlog of the system, unless configured otherwise. */
const BACKLOG = 511;
/** Pause between closing the port and closing idle connections. */
const GRACE_MS = 500;

/** Maximum requests on one connection that wait for an earlier answer. Browsers and proxies do not pipeline. */
const MOST_PIPELINED = 20;

/** Creates Node's server, with a time limit for each way of holding it, and JSON answers to malformed HTTP. */
export function createHttpServer(app: Express, pace?: Pace): Server {
  // Node itself would refuse a request without a Host, but give no reason.
  const server = createServer({ ...classesFor(app), requireHostHeader: false }, (req, res) => {
    if (isOneTooMany(req, res)) req.socket.destroy();
    else if (lacksHost(req)) refuseWithoutHost(res);
    else app(req as Request, res as Response);
  });
  // Node itself would also refuse other expectations than 100-continue. They are ignored.
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => server.emit('request', req, res));
  server.requestTimeout = 150_000;
  // Longer than proxies keep idle connections (two minutes at most by default), so that they send no request into a
  // closing one.
  server.keepAliveTimeout = 130_000;
  // For clients that have stopped reading.
  server.setTimeout(120_000);
  closeSlowReaders(server, pace);
  server.on('clientError', refuse);
  return server;
}

/** Counts pipelined requests: Node starts each as it arrives, so one connection could run any number. */
function isOneTooMany({ socket }: IncomingMessage, answer: ServerResponse): boolean {
  // The answer that is sent next already has the socket.
  if (answer.socket !== null) return false;
  const waiting = pipelined.get(socket) ?? waitingAt(socket);
  waiting.add(answer);
  answer.once('close', () => waiting.delete(answer));
  return waiting.size > MOST_PIPELINED;
}

function waitingAt(socket: Socket): Set<ServerResponse> {
  const waiting = new Set<ServerResponse>();
  pipelined.set(socket, waiting);
  // Node tells only the answer that has the socket. Waiting for the end of another would last for ever.
  socket.once('close', () => {
    for (const answer of waiting) if (answer.socket === null && !answer.destroyed) answer.destroy().emit('close');
  });
  return waiting;
}

function lacksHost({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.host === undefined && httpVersion === '1.1';
}

const pipelined = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Gives load balancers and clients time to switch to other instances: still answers all requests, but closes each
 * connection after its answer. `hurry` ends the waiting.
 */
export async function answerAndClose(server: Server, milliseconds: number, hurry?: AbortSignal): Promise<void> {
  server.prependListener('request', (_req, res) => {
    res.shouldKeepAlive = false;
  });
  await sleep(milliseconds, undefined, hurry && { signal: hurry }).catch(() => undefined);
}

/**
 * Waits for requests in progress, and for those being sent to new connections: a proxy cannot tell whether a request on
 * a reset connection had started, and so does not retry it.
 */
export async function drain(server: Server, patienceMs: number): Promise<void> {
  // Closing the port resets connections in the backlog, of which the system hands over one per turn.
  for (let turn = 0; turn < BACKLOG; turn += 1) await immediate();
  // Closing the HTTP server would also cut connections whose first request has not arrived yet.
  const closed = new Promise<void>((resolve) => void NetServer.prototype.close.call(server, () => resolve()));
  await Promise.race([closed, sleep(GRACE_MS)]);
  // A keep-alive connection is idle after its answer, and would stay open for its whole time-out.
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const impatience = setTimeout(() => server.closeAllConnections(), patienceMs);
  await closed;
  clearInterval(idle);
  clearTimeout(impatience);
}

function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [reason, message] = REFUSALS[error.code ?? ''] ?? ['malformed_http', 'malformed HTTP'];
  const { code, body, headers } = refusalOf(reason, message);
  const head = [`HTTP/1.1 ${code} Refused`, ...headers.map((header) => header.join(': '))];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function refuseWithoutHost(res: ServerResponse): void {
  const { code, body, headers } = refusalOf('malformed_http', 'Host: missing');
  res.writeHead(code, headers.flat()).end(body);
}

function refusalOf(reason: Reason, message: string) {
  const { code } = REASONS[reason];
  const body = JSON.stringify({ code, reason, message });
  const headers: [name: string, value: string][] = [
    ['Connection', 'close'],
    ['X-Reason', reason],
    ['Content-Type', 'application/json; charset=utf-8'],
    ['Content-Length', String(body.length)],
  ];
  return { code, body, headers };
}
