import type { Request } from 'express';

/** Returns the address of this service for the client: PUBLIC_URL, or else that of the request. */
export type PublicUrlOf = (req: Request) => string;

const HOST = /^([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?$/i;

export function publicUrlFrom(configured: string | undefined): PublicUrlOf {
  return (req) => configured ?? `${req.protocol}://${hostOf(req)}`;
}

/** Returns the Host of the request, or localhost for an invalid one: an address in an answer must be valid. */
function hostOf(req: Request): string {
  const host = req.get('Host') ?? '';
  return HOST.test(host) ? host : 'localhost';
}
