import { ServerResponse } from 'node:http';
import type { RequestHandler, Response } from 'express';

/**
 * Headers of every answer: what helmet sets for JSON and images, which are not pages and contain no script or frame.
 * The few answers that may be stored set their own Cache-Control.
 */
export const SAME_HEADERS = {
  'Content-Security-Policy': "default-src 'none';object-src 'none';base-uri 'none';frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Origin-Agent-Cluster': '?1',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
  'X-DNS-Prefetch-Control': 'off',
  'X-Download-Options': 'noopen',
  'X-Frame-Options': 'SAMEORIGIN',
  'X-Permitted-Cross-Domain-Policies': 'none',
  'X-XSS-Protection': '0',
  'Cache-Control': 'no-store',
};

const SAME = Object.entries(SAME_HEADERS);
const SAME_LIST = SAME.flat();
const JSON_TYPE = 'application/json; charset=utf-8';

const nodes = ServerResponse.prototype;

/** Adds the headers of every answer when its head is written, so that `sendJson` can write all of them at once. */
export const sameHeaders: RequestHandler = (_req, res, next) => {
  res.writeHead = writeHead;
  next();
};

function writeHead(this: Response, ...head: unknown[]): Response {
  this.setHeader('X-Request-Id', idOf(this));
  for (const [name, value] of SAME) if (!this.hasHeader(name)) this.setHeader(name, value);
  nodes.writeHead.apply(this, head as [status: number]);
  return this;
}

/**
 * Sends JSON. Without headers of its own, the answer gives Node its whole head as one list: headers that are set one by
 * one cost a read as much as its log line.
 */
export function sendJson(res: Response, text: string): void {
  if (res.writeHead === writeHead && res.getHeaderNames().length === 0) {
    const length = String(Buffer.byteLength(text));
    const own = ['Content-Type', JSON_TYPE, 'Content-Length', length, 'X-Request-Id', idOf(res)];
    nodes.writeHead.call(res, res.statusCode, own.concat(SAME_LIST));
  } else res.setHeader('Content-Type', JSON_TYPE);
  res.end(text);
}

/** Returns the id that the client gave, or the one in the log. */
function idOf({ req }: Response): string {
  return req.clientId ?? req.id;
}
