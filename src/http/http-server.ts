import { createServer, IncomingMessage, ServerResponse, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Express } from 'express';

const REFUSALS: Record<string, [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'headers too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request took too long'],
};

/** Node's server, with bounds on every way in which a client could hold it, and JSON also for what its parser refuses. */
export function createHttpServer(app: Express): Server {
  const server = createServer(bornFor(app), app);
  server.requestTimeout = 150_000;
  // Longer than a proxy keeps its own idle connections, so that it never sends a request into a closing one.
  server.keepAliveTimeout = 75_000;
  // A client that has stopped reading is let go.
  server.setTimeout(120_000);
  server.on('clientError', refuse);
  return server;
}

/**
 * Express sets the prototype of every request and every answer to the one that `app` has for them. V8 then gives each of these
 * objects a hidden class of its own, which costs several times as much as all else that Express does. This server makes them
 * with that prototype, so that setting it changes nothing.
 */
function bornFor(app: Express): { IncomingMessage: typeof IncomingMessage; ServerResponse: typeof ServerResponse } {
  class AppRequest extends IncomingMessage {}
  class AppResponse<Request extends IncomingMessage> extends ServerResponse<Request> {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  Object.assign(app, { request: AppRequest.prototype, response: AppResponse.prototype });
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}

/**
 * Gives those who send requests here time to send them elsewhere: all are still answered, and each answer asks the client to
 * close its connection. `hurry` ends the waiting.
 */
export async function leave(server: Server, milliseconds: number, hurry?: AbortSignal): Promise<void> {
  server.prependListener('request', (_req, res) => {
    res.shouldKeepAlive = false;
  });
  await sleep(milliseconds, undefined, hurry && { signal: hurry }).catch(() => undefined);
}

/** Lets requests that are under way finish, for a while. */
export async function drain(server: Server, patienceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A kept-alive connection becomes idle with its answer, and would stay so for its whole time-out.
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
  const [status, message] = REFUSALS[error.code ?? ''] ?? [400, 'malformed HTTP'];
  const body = JSON.stringify({ code: status, message });
  const head = [
    `HTTP/1.1 ${status} Refused`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${body.length}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
