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

/** Connections that the system holds at most, unless told otherwise. */
const BACKLOG = 511;
/** Between the closing of the port and that of connections which are idle. */
const GRACE_MS = 500;

/** Requests that wait on one connection for the answer to an earlier one. Browsers and proxies send none so early. */
const MOST_PIPELINED = 20;

/** Node's server, with a time limit for every way in which a client can hold it, and JSON answers to malformed HTTP. */
export function createHttpServer(app: Express, pace?: Pace): Server {
  // Node would refuse a request without a host by itself, and give no reason.
  const server = createServer({ ...classesFor(app), requireHostHeader: false }, (req, res) => {
    if (isOneTooMany(req, res)) req.socket.destroy();
    else if (lacksHost(req)) refuseWithoutHost(res);
    else app(req as Request, res as Response);
  });
  // Likewise one that expects something else than to be told to go on. What it expects is ignored.
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => server.emit('request', req, res));
  server.requestTimeout = 150_000;
  // Longer than proxies keep their own idle connections, so that none sends a request into a closing one: two minutes is
  // the longest default.
  server.keepAliveTimeout = 130_000;
  // For a client that has stopped reading.
  server.setTimeout(120_000);
  closeSlowReaders(server, pace);
  server.on('clientError', refuse);
  return server;
}

/** Node begins each request as it arrives, so that one connection could have any number of them under way. */
function isOneTooMany({ socket }: IncomingMessage, answer: ServerResponse): boolean {
  // The one that is answered next has the socket already.
  if (answer.socket !== null) return false;
  const waiting = pipelined.get(socket) ?? waitingAt(socket);
  waiting.add(answer);
  answer.once('close', () => waiting.delete(answer));
  return waiting.size > MOST_PIPELINED;
}

function waitingAt(socket: Socket): Set<ServerResponse> {
  const waiting = new Set<ServerResponse>();
  pipelined.set(socket, waiting);
  // Node tells the one answer that has the socket. Whoever waits for the end of another would wait for ever.
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
 * Gives load balancers and clients time to turn to other instances: all requests are still answered, and each answer
 * closes its connection. `hurry` ends the waiting.
 */
export async function answerAndClose(server: Server, milliseconds: number, hurry?: AbortSignal): Promise<void> {
  server.prependListener('request', (_req, res) => {
    res.shouldKeepAlive = false;
  });
  await sleep(milliseconds, undefined, hurry && { signal: hurry }).catch(() => undefined);
}

/**
 * Waits a while for requests that are under way, also for those that are on their way to connections which have just
 * been made: a proxy cannot tell whether one that is reset was begun, and so does not send it again.
 */
export async function drain(server: Server, patienceMs: number): Promise<void> {
  // Closing the port resets connections that the system holds for us, of which it hands one over a turn.
  for (let turn = 0; turn < BACKLOG; turn += 1) await immediate();
  // The close of an HTTP server would also cut connections whose first request has not come yet.
  const closed = new Promise<void>((resolve) => void NetServer.prototype.close.call(server, () => resolve()));
  await Promise.race([closed, sleep(GRACE_MS)]);
  // A kept-alive connection is idle after its answer, and would stay open for its whole time-out.
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
