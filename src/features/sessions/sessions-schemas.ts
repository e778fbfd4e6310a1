import { z } from 'zod';
import { id } from '../../http/parse';
import type { OwnSession } from './sessions-repository';

export const sessionToEnd = z.object({ id });

/** `renewedAt` is the day of the last use: a session is written to once a day at most. */
export function sessionView({ id, createdAt, renewedAt, ip, userAgent, isCurrent }: OwnSession) {
  return {
    id,
    createdAt: new Date(createdAt).toISOString(),
    renewedAt: new Date(renewedAt).toISOString(),
    ip,
    userAgent,
    current: isCurrent,
  };
}
