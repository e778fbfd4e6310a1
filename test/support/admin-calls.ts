import type { Command } from '../../src/admin/command';
import type { Scope } from '../../src/admin/tokens-repository';
import { neededOf, pathOf } from '../../src/admin/command-body';
import { newToken } from '../../src/admin/tokens';
import { AdminTokensRepository } from '../../src/admin/tokens-repository';
import { tokenHash } from '../../src/base/secrets';
import type { TestApp } from './app';
import { sendRaw, type Answer } from './calls';
import { rememberSecret } from './secrets';

/** Makes a token without the command line, which would start all services each time. */
export async function tokenWith(app: Pick<TestApp, 'db'>, name: string, scope: Scope): Promise<string> {
  const token = rememberSecret(newToken());
  await new AdminTokensRepository(app.db).add({ hash: tokenHash(token), name, scope, days: 90, createdBy: 'olga' });
  return token;
}

/** Calls the admin API. A body that is a string is sent as it is. */
export function callAdmin(
  { adminUrl }: Pick<TestApp, 'adminUrl'>,
  path: string,
  token: string | undefined,
  body: object | string = {},
): Promise<Answer> {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return sendRaw({ url: adminUrl }, path, { headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
}

/** Runs a command without changing anything. Each of its words that names a user or a phone is `who`. */
export function tryCommand(app: TestApp, command: Command, token: string, who: string): Promise<Answer> {
  const named = neededOf(command).map((name) => [name, name === 'user' || name === 'phone' ? who : 'unknown'] as const);
  const body = { ...Object.fromEntries(named), ...(command.changes && { dryRun: true }) };
  return callAdmin(app, pathOf(command), token, body);
}
