import type { Request } from 'express';

/** The address of this service for the client: PUBLIC_URL, or else that of the request. */
export type PublicUrlOf = (req: Request) => string;

export function publicUrlFrom(configured: string | undefined): PublicUrlOf {
  return (req) => configured ?? `${req.protocol}://${req.get('Host') ?? 'localhost'}`;
}
