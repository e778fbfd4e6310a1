import { userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import dotenv from 'dotenv';
import { databaseUrl } from '../../knexfile';
import { asJson, asText, inOneLine } from '../../src/admin/as-text';
import {
  DatabaseAway,
  flagsOf,
  OperatorError,
  type Command as OperatorsCommand,
  type Input,
} from '../../src/admin/command';
import { COMMANDS } from '../../src/admin/commands';
import { completionOf } from '../../src/admin/completion';
import { withContext, perform } from '../../src/admin/perform';
import { AppError } from '../../src/base/errors';
import { ConfigError, loadConfig, type Config } from '../../src/config/config';
import { messageOf } from '../../src/start/remedies';

/**
 * npm run admin -- COMMAND: the command line of operators. docs/admin.md shows each command. It ends with 0 once the
 * command is done, with 1 after a mistake of the operator, and with 2 when the service or its database failed.
 */
const MISTAKEN = 1;
const FAILED = 2;

function programOf(): Command {
  const program = new Command('admin').description('Answers the questions of support, and acts for operators.');
  program
    .option('--json', 'print JSON')
    .option('--as <name>', 'your name, for the audit trail (default outside of production: your login name)');
  const groups = new Map<string, Command>();
  for (const command of COMMANDS) {
    const [first = '', second] = command.name.split(' ');
    if (second === undefined) {
      describe(program.command(`${first} ${command.takes}`.trim()), command, program);
      continue;
    }
    const group = groups.get(first) ?? program.command(first).description(`commands on ${first}`);
    groups.set(first, group);
    describe(group.command(`${second} ${command.takes}`.trim()), command, program);
  }
  program
    .command('completion')
    .description('prints a script for bash: eval "$(admin completion)"')
    .action(() => void process.stdout.write(`${completionOf(COMMANDS)}\n`));
  return program;
}

function describe(made: Command, command: OperatorsCommand, program: Command): void {
  made.description(command.what);
  for (const [flag, what] of Object.entries(flagsOf(command))) made.option(flag, what);
  made.action(async (...all: unknown[]) => {
    const words = all.slice(0, -2).filter((word): word is string => typeof word === 'string');
    const options = made.opts<Input['options']>();
    const { json, as } = program.opts<{ json?: boolean; as?: string }>();
    const config = loadConfig(process.env);
    if (command.isForDevelopment && config.production)
      throw new OperatorError(`${command.name} is for development, and NODE_ENV is production`);
    const url = urlOf(config);
    const operator = as ?? loginName(config, command.changes?.(options) === true && !options.dryRun);
    if (command.isFinal && !options.yes && !options.dryRun) await askWhetherSure(command, words);
    const answer = await withContext({ config, databaseUrl: url, ownerUrl: databaseUrl(), operator }, (context) =>
      perform(command, { words, options }, context),
    );
    process.stdout.write(`${json ? asJson(answer) : asText(answer)}\n`);
  });
}

function urlOf({ secrets }: Config): string {
  try {
    return secrets.databaseUrl ?? databaseUrl();
  } catch (error) {
    throw new OperatorError(messageOf(error));
  }
}

/** In a container all operators have one login name, so that a change in production needs a name that is given. */
function loginName({ production }: Config, isChange: boolean): string {
  if (production && isChange) throw new OperatorError('say who you are, for the audit trail: admin --as NAME …');
  try {
    return userInfo().username;
  } catch {
    return 'somebody';
  }
}

/** Asks before what cannot be undone. Without a terminal nobody can answer, and --yes is needed. */
async function askWhetherSure({ name, what }: OperatorsCommand, words: string[]): Promise<void> {
  if (!process.stdin.isTTY)
    throw new OperatorError(`${name} cannot be undone: add --yes, or look first with --dry-run`);
  const terminal = createInterface(process.stdin, process.stderr);
  const answer = await terminal.question(
    `${[name, ...words].join(' ')}: ${what}. It cannot be undone. Do it? (yes/no) `,
  );
  terminal.close();
  if (answer.trim() !== 'yes') throw new OperatorError('nothing was changed');
}

dotenv.config({ quiet: true });
programOf()
  .parseAsync()
  .catch((error: unknown) => {
    const isKnown = isOperatorError(error) || error instanceof DatabaseAway;
    const message =
      error instanceof ConfigError ? error.message : inOneLine(messageOf(error).replace(/\s*\n\s*/g, ' '));
    process.stderr.write(`${isKnown ? message : `Cannot do this: ${message}`}\n`);
    process.exitCode = isOperatorError(error) ? MISTAKEN : FAILED;
  });

/** Whether the operator can do better: a refusal of a service is one that a client would get too. */
function isOperatorError(error: unknown): boolean {
  if (error instanceof AppError) return error.status < 500;
  return error instanceof OperatorError || error instanceof ConfigError;
}
