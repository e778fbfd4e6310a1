// Writes .env.example and docs/settings.schema.json. Writes the tables of limits and queues into docs/limits.md, of
// metrics into docs/metrics.md, of scopes into docs/admin-api.md, of commands into docs/admin.md, and of variables into
// docs/codes.md and docs/tracing.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flagsOf } from '../../src/admin/command';
import { COMMANDS } from '../../src/admin/commands';
import { SCOPES } from '../../src/admin/tokens-repository';
import { WINDOWS } from '../../src/config/sections/limits';
import { SENDER_NAMES, SENDERS } from '../../src/integrations/senders/kinds';
import { LIMITS, limitsOf, type Limit, type LimitName, type LimitRow } from '../../src/load/limits';
import { queueTable } from '../../src/load/queues';
import { describedMetrics } from './described-metrics';
import { envExample, printedSections } from './env-example';
import { settingsSchema } from './settings-schema';

const ROOT = join(__dirname, '../..');
/** Generated parts of files, each between two texts: after the first behind a heading, if there is one. */
const TABLES: {
  file: string;
  heading?: string;
  after: string;
  before: string;
  made: (text: string) => string | Promise<string>;
}[] = [
  { file: 'docs/limits.md', after: '|---|---|---|---|---|\n', before: '\n## At once', made: limitsTable },
  { file: 'docs/limits.md', after: '|---|---|---|---|---|---|---|\n', before: '\nA client that', made: queuesTable },
  { file: 'docs/metrics.md', after: '|---|---|---|---|\n', before: '\n## Labels', made: metricsTable },
  { file: 'docs/admin-api.md', after: '|---|---|---|\n', before: '\nThe name is', made: scopesTable },
  { file: 'docs/admin.md', after: '|---|---|---|---|\n', before: '\n## ', made: commandsTable },
  ...senders().map((name) => ({
    file: 'docs/codes.md',
    heading: `\n### ${name}\n`,
    after: '|---|---|\n',
    before: '\n\n',
    made: () => variables(`With ${name} in SMS_PROVIDER or SMS_ROUTES`),
  })),
  {
    file: 'docs/tracing.md',
    after: '|---|---|\n',
    before: '\n\nThe names',
    made: () => variables('Traces for OpenTelemetry: docs/tracing.md'),
  },
];

/** Returns the new text of each file. */
export async function filesWithTables(): Promise<Map<string, string>> {
  const files = new Map(TABLES.map(({ file }) => [file, readFileSync(join(ROOT, file), 'utf8')]));
  for (const { file, heading = '', after, before, made } of TABLES) {
    const text = files.get(file) ?? '';
    const begin = text.indexOf(after, text.indexOf(heading)) + after.length;
    const end = text.indexOf(before, begin);
    if (!text.includes(heading) || begin < after.length || end < 0)
      throw new Error(`${file} has no place for its table`);
    files.set(file, text.slice(0, begin) + (await made(text)) + text.slice(end));
  }
  files.set('.env.example', envExample());
  files.set('docs/settings.schema.json', settingsSchema());
  return files;
}

/** Returns the senders that have variables and a place in docs/codes.md. */
function senders(): string[] {
  return SENDER_NAMES.filter((name) => !SENDERS[name].forDevelopment);
}

/** Returns the variables of a section. Variables with the same words stand in one row. */
function variables(title: string): string {
  const rows = printedSections().find((section) => section.title === title)?.rows ?? [];
  const lines = rows.map(({ names, says, rows }) => {
    const defaults = rows.flatMap((row) => (row.default === undefined ? [] : [`Default: \`${row.default}\`.`]));
    const https = rows.some((row) => row.https !== undefined) ? ['In production it must be `https`.'] : [];
    return line(names.map((name) => `\`${name}\``).join(', '), [says, ...defaults, ...https].join(' '));
  });
  return lines.join('').trimEnd();
}

function limitsTable(): string {
  const [inProduction, elsewhere] = [true, false].map((isProduction) =>
    limitsOf({ CODE_RESEND_SECONDS: 60 }, isProduction),
  );
  const rows = Object.entries(LIMITS) as [LimitName, LimitRow][];
  const lines = rows.map(([name, { what, per, refusal }]) => {
    const { amount = 0, seconds = 0 } = inProduction?.[name] ?? {};
    const most = amount.toLocaleString('en') + (elsewhere?.[name].amount === amount ? '' : ' in production');
    return what === undefined ? '' : line(what, whose(per), most, WINDOWS.get(seconds), refusal(1, Infinity).reason);
  });
  return lines.join('');
}

function queuesTable(): string {
  const rows = Object.values(queueTable(2)).map(({ what, per, waiting, refusal, ...rules }) => {
    const { atOnce, share, waitMs } = { atOnce: undefined, share: undefined, waitMs: undefined, ...rules };
    const { code, reason } = refusal();
    const most = waiting === Infinity ? '' : waiting.toLocaleString('en');
    const longest = waitMs === undefined ? '' : `${waitMs / 1_000} s`;
    return line(what, per, inDigits(atOnce), inDigits(share), most, longest, `${code} ${reason}`);
  });
  return rows.join('');
}

function inDigits(places: number | undefined): string {
  return places?.toLocaleString('en') ?? '';
}

async function metricsTable(): Promise<string> {
  const inCode = (words: string[]) => words.map((word) => `\`${word}\``).join(', ');
  const rows = (await describedMetrics()).described();
  return rows.map(({ name, type, help, labels }) => line(`\`${name}\``, type, inCode(labels), help)).join('');
}

const FOR = {
  read: 'looking: dashboards, jobs; no answer has a whole phone, and users are named by ids only',
  support: 'helping users: the help desk',
  admin: 'closing an account or a group, moving an account to another phone',
};

function scopesTable(): string {
  const named = (commands: typeof COMMANDS) => commands.map(({ name }) => name).join(', ');
  const rows = SCOPES.map((scope) => {
    const commands = COMMANDS.filter((one) => one.scope === scope && one.isLocal !== true);
    return line(`\`${scope}\``, FOR[scope], named(commands));
  });
  const local = COMMANDS.filter(({ isLocal }) => isLocal);
  return `${rows.join('')}| no token | their answers are secrets, or they are for developers | ${named(local)}, completion |\n`;
}

/** Each command with a section links to it. A section of a command that does not exist is an error. */
function commandsTable(page: string): string {
  const titles = new Set(Array.from(page.matchAll(/^## `(.*)`$/gm), ([, title = '']) => title));
  const rows = COMMANDS.map((command) => {
    const { name, takes, what, options = {}, scope, isLocal } = command;
    const title = `${name} ${takes}`.trim();
    const named = titles.delete(title)
      ? `[\`${title}\`](#${title.replace(/[^\w -]/g, '').replaceAll(' ', '-')})`
      : `\`${title}\``;
    const own = Object.entries(options).map(([flag, meaning]) => `; \`${flag}\` ${meaning}`);
    const flags = Object.keys(flagsOf(command)).map((flag) => `\`${flag}\``);
    return line(named, what + own.join(''), flags.join(' '), isLocal ? 'command line only' : `\`${scope}\``);
  });
  if (titles.size > 0) throw new Error(`docs/admin.md has sections of no command: ${[...titles].join(', ')}`);
  return rows.join('');
}

function line(...cells: unknown[]): string {
  return `| ${cells.join(' | ')} |\n`.replace(/ {2}/g, ' ');
}

function whose(per: Limit['per']): string {
  if (per === 'service') return 'all';
  return per === 'address' ? 'an address' : `a ${per}`;
}

if (process.argv[1] === __filename)
  void filesWithTables().then((files) => files.forEach((text, file) => writeFileSync(join(ROOT, file), text)));
