import { codeOf } from '../base/errors';
import { tokenHash } from '../base/secrets';
import { ALWAYS, OperatorError, type Command, type Input, type Answer, type Context } from './command';
import { MOST_ROWS } from './lookups';
import { newToken } from './tokens';
import { SCOPES, type Scope } from './tokens-repository';

const DAYS = 90;
/** Longest life of a token, which the table also refuses to exceed. */
const MOST_DAYS = 400;

/** Safe in a log line, in the key of a limit and in a shell. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,39}$/;

/** Commands of the command line only: a token that could make tokens would outlive its own revocation. */
export const TOKENS: Command[] = [
  {
    name: 'tokens add',
    takes: '<name> <scope> [days]',
    what: 'makes a token of the admin API with the scope read, support or admin, and prints it once',
    scope: 'admin',
    isLocal: true,
    changes: ALWAYS,
    run: addToken,
  },
  {
    name: 'tokens list',
    takes: '',
    what: 'lists the tokens of the admin API that are not revoked',
    scope: 'admin',
    isLocal: true,
    run: async ({ tokens }) => {
      const found = await tokens.list(MOST_ROWS);
      const more = [`only the first ${MOST_ROWS} are shown, valid tokens first: revoke unused ones`];
      return { tokens: found.map((token) => ({ ...token })), ...(found.length === MOST_ROWS && { more }) };
    },
  },
  {
    name: 'tokens revoke',
    takes: '<name>',
    what: 'ends a token of the admin API at once',
    scope: 'admin',
    isLocal: true,
    changes: ALWAYS,
    run: async ({ tokens }, { words: [name = ''], options }) => {
      const found = await tokens.named(name);
      if (!found) throw new OperatorError(`${name}: no token has this name: see tokens list`);
      if (!options.dryRun) await asOwner(tokens.revoke(name));
      return { [options.dryRun ? 'would revoke' : 'revoked']: [{ ...found }] };
    },
  },
];

async function addToken({ tokens, operator }: Context, { words, options }: Input): Promise<Answer> {
  const [name = '', givenScope = '', givenDays = String(DAYS)] = words;
  if (!NAME.test(name)) throw new OperatorError(`${name}: a name has 1 to 40 lower-case letters, digits, ., _ and -`);
  const [scope, days] = [scopeIn(givenScope), daysIn(givenDays)];
  const taken = new OperatorError(`${name}: a token has this name: choose another one, or revoke it first`);
  if (options.dryRun) {
    if (await tokens.named(name)) throw taken;
    return { 'would add': [{ name, scope, days }] };
  }
  const token = newToken();
  const expiresAt = await asOwner(tokens.add({ hash: tokenHash(token), name, scope, days, createdBy: operator }));
  if (expiresAt === undefined) throw taken;
  return {
    added: [{ name, scope, expiresAt, token }],
    next: ['keep the token where only its user reads it: it is shown only now'],
  };
}

const REFUSED = '42501';

/** Says which setting is missing when the database refuses a change of tokens to the role of the service. */
function asOwner<T>(change: Promise<T>): Promise<T> {
  return change.catch((error: unknown) => {
    if (codeOf(error) !== REFUSED) throw error;
    throw new OperatorError(
      'only the owner of the tables may change tokens: set DATABASE_MIGRATION_URL to its address',
    );
  });
}

function scopeIn(text: string): Scope {
  const scope = SCOPES.find((one) => one === text);
  if (scope === undefined) throw new OperatorError(`${text}: is not a scope: take one of ${SCOPES.join(', ')}`);
  return scope;
}

function daysIn(text: string): number {
  const days = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > MOST_DAYS) throw new OperatorError(`${text}: a token lives for 1 to ${MOST_DAYS} days`);
  return days;
}
