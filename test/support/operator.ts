import { join } from 'node:path';
import type { Answer, Row } from '../../src/admin/command';
import { COMMANDS } from '../../src/admin/commands';
import { withContext, perform } from '../../src/admin/perform';
import { loadConfig } from '../../src/config/config';
import type { Env, TestApp } from './app';
import { ownerUrlOf } from './database';
import { PATIENCE } from './patience';

type Database = Pick<TestApp, 'dataDir' | 'databaseUrl'> & Partial<Pick<TestApp, 'ownerUrl'>>;

/** Runs a command on an app's database, as the operator Olga would. */
export async function command(
  on: Database,
  name: string,
  words: string[] = [],
  options: Record<string, boolean> = {},
  env: Env = {},
): Promise<Answer> {
  const found = COMMANDS.find((one) => one.name === name);
  if (!found) throw new Error(`unknown command: ${name}`);
  const config = loadConfig({ DATA_DIR: on.dataDir, SMS_PROVIDER: 'file', SMS_FILE: join(on.dataDir, 'sms'), ...env });
  const { databaseUrl, ownerUrl = ownerUrlOf(databaseUrl) } = on;
  const commandLine = { config, databaseUrl, ownerUrl, operator: 'olga', patience: PATIENCE };
  return withContext(commandLine, (context) => perform(found, { words, options }, context));
}

export const rowsOf = (answer: Answer, title: string) => (answer[title] ?? []) as Row[];
export const linesOf = (answer: Answer, title: string) => ((answer[title] ?? []) as string[]).join('\n');

/** Returns the newest event of an operator. */
export function noted({ db }: Pick<TestApp, 'db'>): Promise<{ detail: string; user_agent: string } | undefined> {
  return db('security_events')
    .where({ event: 'operator' })
    .orderBy('id', 'desc')
    .first<{ detail: string; user_agent: string } | undefined>();
}
