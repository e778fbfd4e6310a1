import { z } from 'zod';
import { id } from '../../http/parse';
import type { OwnSession } from './sessions-repository';

export const sessionToEnd = z.object({ id });

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
