import { z } from 'zod';
import { described, id, time } from '../../http/parse';
import type { SessionRow } from './sessions-repository';

export const sessionToEnd = z.object({ id }).meta({ id: 'SessionToEnd' });

const session = z
  .strictObject({
    id,
    createdAt: time,
    renewedAt: described(time, { description: 'When a use last renewed it. UTC.' }),
    ip: z.string().meta({ description: 'Of the login.', examples: ['203.0.113.7'] }),
    userAgent: z.string().meta({ description: 'Of the login.', examples: ['Hikers/1.0 (Android 16)'] }),
    current: z.boolean().meta({ description: 'Whether it is the one that asks.', examples: [true] }),
  })
  .meta({ id: 'Session' });

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
