import { userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import dotenv from 'dotenv';
import { databaseUrl } from '../knexfile';
import { asText } from '../src/admin/as-text';
import { Mistake, type Command as OperatorsCommand, type Given } from '../src/admin/command';
import { COMMANDS } from '../src/admin/commands';
import { atWorkplace, perform } from '../src/admin/perform';
import { asError } from '../src/base/errors';
import { ConfigError, loadConfig } from '../src/config/config';

/** npm run admin -- COMMAND: the command line of operators. docs/admin.md shows each command. */

function programOf(): Command {
  const program = new Command('admin').description('Answers the questions of support, and acts for operators.');
  program
    .option('--json', 'print JSON')
    .option('--as <name>', 'your name, for the audit trail (default: your login name)');
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
  return program;
}

function describe(made: Command, command: OperatorsCommand, program: Command): void {
  made.description(command.what);
  for (const [flag, what] of Object.entries(command.options ?? {})) made.option(flag, what);
  if (command.changes) made.option('--dry-run', 'only tell what would change');
  if (command.isFinal) made.option('--yes', 'do it without asking: it cannot be undone');
  made.action(async (...all: unknown[]) => {
    const words = all.slice(0, -2).filter((word): word is string => typeof word === 'string');
    const options = made.opts<Given['options']>();
    const { json, as } = program.opts<{ json?: boolean; as?: string }>();
    const config = loadConfig(process.env);
    const url = config.secrets.databaseUrl ?? databaseUrl();
    if (command.isFinal && !options.yes && !options.dryRun && !(await isSure(command, words))) return;
    const operator = as ?? userInfo().username;
    const parts = await atWorkplace({ config, databaseUrl: url, operator }, (at) =>
      perform(command, { words, options }, at),
    );
    process.stdout.write(`${json ? JSON.stringify(parts, null, 2) : asText(parts)}\n`);
  });
}

/** Asks before what cannot be undone. Without a terminal nobody can answer, and --yes is needed. */
async function isSure({ name, what }: OperatorsCommand, words: string[]): Promise<boolean> {
  if (!process.stdin.isTTY) throw new Mistake(`${name} cannot be undone: add --yes, or look first with --dry-run`);
  const terminal = createInterface(process.stdin, process.stderr);
  const answer = await terminal.question(
    `${[name, ...words].join(' ')}: ${what}. It cannot be undone. Do it? (yes/no) `,
  );
  terminal.close();
  return answer.trim() === 'yes';
}

dotenv.config({ quiet: true });
programOf()
  .parseAsync()
  .catch((error: unknown) => {
    const isKnown = error instanceof Mistake || error instanceof ConfigError;
    const { message } = asError(error, 'unknown error');
    process.stderr.write(`${isKnown ? message : `Cannot do this: ${message}`}\n`);
    process.exitCode = 1;
  });
