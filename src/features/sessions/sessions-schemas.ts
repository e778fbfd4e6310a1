import { z } from 'zod';
import { described, id, time } from '../../base/schemas';
import type { SessionRow } from './sessions-repository';

const sessionId = described(id, { description: 'The id of a session. It is not the value of its cookie.' });

export const sessionToEnd = z
  .object({ id: sessionId })
  .meta({ id: 'SessionToEnd', description: 'A session of the user.' });

const session = z
  .strictObject({
    id: sessionId,
    createdAt: time,
    renewedAt: described(time, { description: 'Time of the last renewal by use. UTC.' }),
    ip: z.string().meta({ description: 'The address at login.', examples: ['203.0.113.7'] }),
    userAgent: z
      .string()
      .meta({ description: 'The client at login, as it calls itself.', examples: ['Hikers/1.0 (Android 16)'] }),
    current: z.boolean().meta({ description: 'Whether it is the session of this request.', examples: [true] }),
  })
  .meta({ id: 'Session', description: 'A place where the account is signed in.' });

export const isSignedIn = z.boolean().meta({ description: 'Whether a user is signed in.', examples: [true] });

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
