import { z } from 'zod';
import { list, oneOf, whole } from '../../base/formats';
import { rows, type Section, type Values } from '../../base/settings';

/** Minimum of different characters in a secret. Secrets of openssl have more, a held-down key has one. */
const LEAST_CHARACTERS = 10;
const GUESSED_FIRST = /change.?me|pass.?word|secret|example|openssl|qwerty|123456|abcdef/i;

// prettier-ignore
export const ROWS = rows({
  SESSION_SECRETS: {
    kind: list.pipe(z.array(z.string().min(32, 'each secret needs at least 32 characters: openssl rand -hex 32 makes one')).min(1, 'must contain a secret: openssl rand -hex 32 makes one')),
    secret: true, required: 'set it, for example to what openssl rand -hex 32 prints',
    refuses: [(secrets: string[]) => secrets.some(isGuessable), 'each needs to be random, openssl rand -hex 32 makes one'],
    says: `Secrets that sign sessions, separated by commas: the first signs, all verify. openssl rand -hex 32 makes one.
      To change it: put the new one at the end in all instances, then in front in all, and remove the old one after
      SESSION_MAX_DAYS. Default: generated and kept in DATA_DIR.` },
  SESSION_DAYS: { kind: whole(1, 400),
    says: `Days until a session that is not used expires. A session in use is renewed once a day, up to SESSION_MAX_DAYS
      in total. It must not be above SESSION_MAX_DAYS. Default: 30, or SESSION_MAX_DAYS if that is less.` },
  SESSION_MAX_DAYS: { kind: whole(1, 3_650), default: 90 },
  RECYCLE_DAYS: { kind: whole(0, 3_650), default: 120,
    says: `Days without a session after which an account is asleep: the next person with its phone closes it by
      start_over. 0: start_over is off. docs/security.md has the reasons.` },
  BCRYPT_COST: { kind: whole(4, 15), default: 10, refuses: [(cost: number) => cost < 10, 'set it to 10 or more'],
    says: `bcrypt cost: 4 to 15, at least 10 in production. After an increase, each password is hashed again at its next
      login.` },
  PASSWORDS: { kind: oneOf('optional', 'required'), default: 'optional', production: 'required',
    says: `optional: a code to the phone is enough to log in and to register (login_by_token, register_by_token).
      required: these two are refused, and a code can only be used with a password (register, reset_password). With
      optional a thief of the SIM gets no further than by reset_password, but more quietly: the owner stays signed in
      (docs/security.md).` },
});

export const SECTIONS: Section[] = [{ title: 'Sessions and passwords', rows: ROWS, ours: ['SESSION'] }];

const DAYS = 30;

export function sessionsOf(
  { SESSION_DAYS: given, SESSION_MAX_DAYS: maxDays }: Values<typeof ROWS>,
  mistakes: string[],
) {
  if (given !== undefined && given > maxDays)
    mistakes.push(`SESSION_DAYS: must be at most SESSION_MAX_DAYS, which is ${maxDays}: lower it, or raise the other`);
  return { days: given ?? Math.min(DAYS, maxDays), maxDays };
}

/** Returns whether a secret can be guessed: every user has a token signed with it, and can test guesses offline. */
export function isGuessable(secret: string): boolean {
  const isRepeated = /^(.{1,32})\1+.{0,16}$/.test(secret);
  return isRepeated || new Set(secret).size < LEAST_CHARACTERS || GUESSED_FIRST.test(secret);
}
