import { parseArgs } from 'node:util';
import { engineVersion } from './docker';
import { Stage } from './stage';
import type { Step } from './step';
import { STEPS } from './steps';

/**
 * npm run compose-test: builds the image, starts docker-compose.yml, and plays the events of a deployment's life.
 *   --only=a,b       plays only these steps
 *   --if-docker      succeeds without an engine, instead of failing
 *   --keep           leaves the deployments running for inspection
 *   --override=FILE  adds a compose file that this machine's engine needs
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
  say(`\n${broken.length === 0 ? 'all steps succeeded' : `broken: ${broken.join(', ')}`}, in ${seconds(begun)}`);
  process.exitCode = broken.length > 0 ? 1 : 0;
}

const bringUp: Step = {
  name: 'up',
  async play(stage) {
    const { project } = await stage.deployment();
    await stage.way();
    return `built, and started as ${project}`;
  },
};

function chosen(): Step[] {
  const names = values.only?.split(',');
  const unknown = names?.filter((name) => !STEPS.some((step) => step.name === name)) ?? [];
  if (unknown.length > 0) throw new Error(`no step ${unknown.join(', ')}; there are: ${listed(STEPS)}`);
  return STEPS.filter(({ name }) => names?.includes(name) ?? true);
}

const listed = (steps: Step[]) => steps.map(({ name }) => name).join(', ');

/** Prints a line for each step, with its time and result. */
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

/** Cleans up after Ctrl-C, too. */
function endWellWhenStopped(stage: Stage): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      say('stopped; removing the deployments');
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
