import { raw, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { BadRequest } from '../base/errors';

const MAX_BYTES = 16 * 1_024;

/** Reads every body, of any content type. The operation decides whether to use it. */
export const body: RequestHandler[] = bodyUpTo(MAX_BYTES);

export function bodyUpTo(limit: number): RequestHandler[] {
  return [raw({ type: (req) => req.headers['content-length'] !== '0', limit })];
}

/** Refuses a malformed body before the session is checked, for operations with a body. */
export function wellFormedBody(req: Request, _res: Response, next: NextFunction): void {
  req.body = jsonBody(req);
  next();
}

/** Returns the body as a JSON object, parsed once. Operations without a body never call it, and so ignore a body. */
export function jsonBody(req: Request): Record<string, unknown> {
  const body: unknown = req.body;
  if (!Buffer.isBuffer(body)) return isObject(body) ? body : {};
  const value = body.length === 0 ? {} : parse(body);
  if (!isObject(value)) throw new BadRequest('malformed_body', 'body: must be a JSON object');
  return value;
}

/** Like `jsonBody`, but returns `{}` instead of refusing a malformed body. */
export function bodyIfAny(req: Request): Record<string, unknown> {
  try {
    return jsonBody(req);
  } catch {
    return {};
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new BadRequest('malformed_body', 'body: must be JSON in UTF-8');
  }
}
