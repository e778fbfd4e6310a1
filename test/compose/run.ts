import { parseArgs } from 'node:util';
import { engineVersion } from './docker';
import { Stage } from './stage';
import type { Step } from './step';
import { STEPS } from './steps';

/**
 * npm run compose-test: builds the image, brings docker-compose.yml up, and goes through what a deployment goes through.
 *   --only=a,b       these steps
 *   --if-docker      does nothing where no engine answers, instead of failing
 *   --keep           leaves what it has brought up, for a look
 *   --override=FILE  one more compose file, with what this machine's engine needs
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    'if-docker': { type: 'boolean' },
    keep: { type: 'boolean' },
    override: { type: 'string', multiple: true },
  },
});

async function main(): Promise<void> {
  const steps = chosen();
  const version = await engineVersion();
  if (version === undefined) {
    say('No Docker engine answers: the compose file was not tried.');
    process.exitCode = values['if-docker'] ? 0 : 1;
    return;
  }
  const begun = performance.now();
  say(`Docker ${version}; ${steps.map(({ name }) => name).join(', ')}`);
  const stage = new Stage(values.override ?? []);
  endWellWhenStopped(stage);
  const broken: string[] = [];
  try {
    for (const { name, play } of [bringUp, ...steps]) {
      if (broken.includes(bringUp.name)) say(`        ${name}: not tried`);
      else if (!(await timed(name, () => play(stage)))) broken.push(name);
    }
  } finally {
    if (values.keep) say(`kept: ${stage.folder}`);
    else await stage.close();
  }
  say(`\n${broken.length === 0 ? 'all of it held' : `broken: ${broken.join(', ')}`}, in ${seconds(begun)}`);
  process.exitCode = broken.length > 0 ? 1 : 0;
}

const bringUp: Step = {
  name: 'up',
  async play(stage) {
    const { project } = await stage.deployment();
    await stage.way();
    return `built, and brought up as ${project}`;
  },
};

function chosen(): Step[] {
  const names = values.only?.split(',');
  const unknown = names?.filter((name) => !STEPS.some((step) => step.name === name)) ?? [];
  if (unknown.length > 0) throw new Error(`no step ${unknown.join(', ')}; there are: ${listed(STEPS)}`);
  return STEPS.filter(({ name }) => names?.includes(name) ?? true);
}

const listed = (steps: Step[]) => steps.map(({ name }) => name).join(', ');

/** A line for each, with its time and what was seen. */
async function timed(name: string, play: () => Promise<string>): Promise<boolean> {
  const begun = performance.now();
  const [word, told] = await play().then(
    (seen) => ['held', seen] as const,
    (error: unknown) => ['BROKEN', error instanceof Error ? error.message : String(error)] as const,
  );
  say(`${word.padEnd(6)}  ${name.padEnd(13)}  ${seconds(begun).padStart(7)}  ${told}`);
  return word === 'held';
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1_000).toFixed(1)} s`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Ctrl-C leaves nothing behind either. */
function endWellWhenStopped(stage: Stage): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      say('stopped; removing what was brought up');
      void stage.close().finally(() => process.exit(1));
    });
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
