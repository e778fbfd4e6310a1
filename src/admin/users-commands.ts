import { PhoneTaken } from '../features/auth/credentials';
import { masked } from '../features/phones/phone-number';
import { nickname } from '../features/users/profile';
import { ALWAYS, OperatorError, type Command, type Row } from './command';
import { MOST_FOUND } from './lookups';
import { claimRow, eventRows } from './rows';
import type { FoundUser } from './support-repository';
import { openUserIn, phoneIn, userIn } from './who';

export const USERS: Command[] = [
  {
    name: 'users find',
    takes: '<text>',
    what: 'finds accounts by the beginning of an id, or of a phone with + and its country code',
    scope: 'support',
    run: async ({ support }, { words: [given = ''] }) => {
      const found = await support.accounts(beginningIn(given));
      if (found.length === 0) throw new OperatorError(`${given}: no id or phone of an account begins like this`);
      const more = [`only the first ${MOST_FOUND} are shown: give more of the id or phone`];
      return { users: found.map((user): Row => ({ ...user })), ...(found.length === MOST_FOUND && { more }) };
    },
  },
  {
    name: 'users show',
    takes: '<user>',
    what: 'shows an account, by its id or its phone (+447911123456)',
    scope: 'support',
    run: async (context, { words: [who = ''] }) => {
      const { phones, ...user } = await userIn(context, who);
      const claims = (await context.reads.claimsOf(user.id)).map(claimRow);
      return {
        user: [{ ...user, sessions: (await context.reads.sessionsOf(user.id)).length, phones: phones.join(' ') }],
        ...(claims.length > 0 && { 'claims of its number': claims }),
        'last events': eventRows(await context.support.eventsOfUser(user.id, 15)),
      };
    },
  },
  {
    name: 'users close',
    takes: '<user>',
    what: 'closes an account, as its owner can: it ends everything that belongs to it, and frees its phone',
    scope: 'admin',
    changes: ALWAYS,
    isFinal: true,
    run: async (context, { words: [who = ''], options }) => {
      const user = await openUserIn(context, who);
      if (!options.dryRun) await (await context.services()).account.closeByOperator(user.id, context.caller);
      return { [options.dryRun ? 'would close' : 'closed']: [accountRow(user)] };
    },
  },
  {
    name: 'users rename',
    takes: '<user> <nickname>',
    what: 'gives a user another nickname, which all others then see',
    scope: 'support',
    changes: ALWAYS,
    run: async (context, { words: [who = '', given], options }) => {
      const { id, nickname: before } = await openUserIn(context, who);
      const after = nicknameIn(given);
      if (!options.dryRun) await (await context.services()).profile.change(id, { nickname: after });
      return { [options.dryRun ? 'would rename' : 'renamed']: [{ id, before, after }] };
    },
  },
  {
    name: 'users set-phone',
    takes: '<user> <phone>',
    what: 'gives an account another phone, and ends its sessions, codes and earlier phones',
    scope: 'admin',
    changes: ALWAYS,
    run: async (context, { words: [who = '', given = ''], options }) => {
      const { id, phones } = await openUserIn(context, who);
      const phone = phoneIn(given);
      const holder = await context.reads.userIdOf(phone.number);
      if (holder !== undefined)
        throw new OperatorError(`${given}: is the phone of ${holder === id ? 'this account' : holder}`);
      if (!options.dryRun)
        await (
          await context.services()
        ).account
          .changePhoneByOperator(id, phone, context.caller)
          .catch(asOperatorError(given));
      const row = { id, before: phones.map(masked).join(' '), after: phone.number };
      return { [options.dryRun ? 'would change' : 'changed']: [row] };
    },
  },
];

function accountRow({ phones, ...user }: FoundUser): Row {
  return { ...user, phones: phones.join(' ') };
}

/** Reads the beginning of an id or of a phone, long enough to mean few accounts. */
function beginningIn(given: string): string {
  const text = given.startsWith('+') ? given.replace(/[\s()-]/g, '') : given;
  if (/^\+\d{4,16}$|^[A-Za-z0-9_-]{3,64}$/.test(text)) return text;
  throw new OperatorError(`${given}: give 3 characters of an id or more, or a phone with + and at least 4 digits`);
}

function nicknameIn(given: string | undefined): string {
  const { data, error } = nickname.safeParse(given);
  if (data === undefined) throw new OperatorError(`nickname: ${error?.issues[0]?.message ?? 'is not one'}`);
  return data;
}

/** Another account may take the phone at the same moment. */
function asOperatorError(phone: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof PhoneTaken ? new OperatorError(`${phone}: is the phone of another account`) : error;
  };
}
