import { z } from 'zod';
import { id } from '../../http/parse';
import type { SessionRow } from './sessions-repository';

export const sessionToEnd = z.object({ id });

const session = z.strictObject({
  id,
  createdAt: z.iso.datetime(),
  renewedAt: z.iso.datetime(),
  ip: z.string(),
  userAgent: z.string(),
  current: z.boolean(),
});

export const ownSessions = z.array(session);

export function sessionView(row: SessionRow): z.infer<typeof session> {
  const { id, createdAt, renewedAt, ip, userAgent, isCurrent } = row;
  return {
    id,
    createdAt: new Date(createdAt).toISOString(),
    renewedAt: new Date(renewedAt).toISOString(),
    ip,
    userAgent,
    current: isCurrent,
  };
}
