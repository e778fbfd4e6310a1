import { raw, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { BadRequest } from '../errors';

const MAX_BYTES = 16 * 1_024;

const readBytes = raw({ type: () => true, limit: MAX_BYTES });

/** Reads what comes, whatever the content type header says; the operation decides whether it wants it. */
export const body: RequestHandler[] = [readBytes, keepBytes];

/** Refuses a malformed body before anything else is asked, in front of operations that take one. */
export function wellFormedBody(req: Request, _res: Response, next: NextFunction): void {
  jsonBody(req);
  next();
}

/**
 * The body as the JSON object it has to be. Only operations that take a body call it: the others ignore what is sent.
 */
export function jsonBody(req: Request): Record<string, unknown> {
  const bytes: unknown = req.body;
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) return {};
  const value = parse(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadRequest('body: must be a JSON object');
  return { ...value };
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new BadRequest('body: must be JSON in UTF-8');
  }
}

function keepBytes(req: Request, _res: Response, next: NextFunction): void {
  if (!Buffer.isBuffer(req.body)) req.body = Buffer.alloc(0);
  next();
}
