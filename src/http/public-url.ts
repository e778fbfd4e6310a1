import type { Request } from 'express';

/** The address under which the client reached us: PUBLIC_URL, or what the request itself says. */
export type PublicUrlOf = (req: Request) => string;

export function publicUrlFrom(configured: string | undefined): PublicUrlOf {
  return (req) => configured ?? `${req.protocol}://${req.get('Host') ?? 'localhost'}`;
}
