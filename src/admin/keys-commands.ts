import { randomBytes } from 'node:crypto';
import { generateSigningKey } from '../integrations/messaging/signing-key';
import type { Config } from '../config/config';
import { AUDIENCE_TOKEN_SECONDS } from '../features/tokens/audience-tokens';
import type { Command, Answer } from './command';

export const KEYS: Command[] = [
  {
    name: 'keys rotate',
    takes: '',
    what: 'makes new values for the secrets of sessions and messaging, and tells how to replace the present ones',
    scope: 'admin',
    isLocal: true,
    run: async ({ config }) => newKeys(config),
  },
];

/** Only you put a key into the settings of each instance. Until then nothing changes, and nothing is stored. */
function newKeys({ messaging, sessions, secrets, dataDir }: Config): Answer {
  const presentOf = (variable: string, given: unknown, file: string) =>
    given === undefined ? `the content of ${dataDir}/${file}` : `the value of ${variable}`;
  const session = presentOf('SESSION_SECRETS', secrets.session, 'session-secret');
  // Tokens for other services last as long as audience-tokens.ts says.
  const lifetimes = [
    ...(messaging.provider === 'jwt' ? [messaging.ttlSeconds] : []),
    ...(messaging.audiences.length > 0 ? [AUDIENCE_TOKEN_SECONDS] : []),
  ];
  const signs = lifetimes.length > 0;
  const signing = presentOf('MESSAGING_JWT_KEY', secrets.messagingJwtKey, 'messaging-jwt-key');
  return {
    'new values': [
      { variable: 'SESSION_SECRETS', value: randomBytes(32).toString('hex') },
      ...(signs ? [{ variable: 'MESSAGING_JWT_KEY', value: generateSigningKey() }] : []),
    ],
    'steps for SESSION_SECRETS': [
      `1. set it to ${session}, a comma, and the new value; restart the instances one by one`,
      '2. put the new value in front, and restart them again',
      `3. after ${sessions.maxDays} days (SESSION_MAX_DAYS) take the old value out`,
      'if others have seen a secret: set it to the new value only, at once; then all users have to log in again',
    ],
    ...(signs && {
      'steps for MESSAGING_JWT_KEY': [
        `1. set MESSAGING_JWT_OLD_KEY to ${signing}, and MESSAGING_JWT_KEY to the new value; restart`,
        `2. after ${Math.max(...lifetimes)} s (MESSAGING_TOKEN_TTL_SECONDS) empty MESSAGING_JWT_OLD_KEY`,
      ],
    }),
  };
}
