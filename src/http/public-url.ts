import type { Request } from 'express';

/** The address of this service for the client: PUBLIC_URL, or else that of the request. */
export type PublicUrlOf = (req: Request) => string;

const HOST = /^([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?$/i;

export function publicUrlFrom(configured: string | undefined): PublicUrlOf {
  return (req) => configured ?? `${req.protocol}://${hostOf(req)}`;
}

/** A client may name what is no host: an address that we give is one all the same. */
function hostOf(req: Request): string {
  const host = req.get('Host') ?? '';
  return HOST.test(host) ? host : 'localhost';
}
