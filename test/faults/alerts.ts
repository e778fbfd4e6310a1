import { setTimeout as sleep } from 'node:timers/promises';
import { startTwilioStandIn, type TwilioStandIn } from '../support/stand-ins/twilio';
import { until } from '../support/until';
import { ALERT_ENV, ALERT_FAULTS, metricsHost, SECOND_ENV, type AlertFault } from './alert-faults';
import { sql } from './faults';
import { alertNames, panels, Prometheus } from './prometheus';
import { throughTwilio } from './twilio-inbox';
import { World } from './world';

/** Longer than any duration of the shortened rules, so that an alert would have had the time to fire. */
const QUIET_MS = 45_000;
const LOOK_MS = 250;
const FIRES_MS = 90_000;
const RESOLVES_MS = 90_000;
const PEOPLE_PAUSE_MS = 400;
/** Alerts whose faults are made beside all others. */
const SLOW = ALERT_FAULTS.filter(({ slow }) => slow).map(({ alert }) => alert);
const HEAD = ['alert', 'fault', 'fired after', 'silent again after', 'fired beside it'];

/** Codes are judged after a quarter of an hour: these were sent before the run. */
const EARLIER_CODES = `
  INSERT INTO sms_traffic (region, slot, sent, verified)
  SELECT 'GB', sms_traffic_slot(now() - n * interval '10 minutes'), 20, 18 FROM generate_series(3, 100) n`;

interface Played {
  head: string[];
  rows: { cells: string[] }[];
  isGood: boolean;
}

type Say = (line: string) => void;

interface Row {
  alert: string;
  cells: string[];
  isGood: boolean;
}

/** Makes the fault of each alert under light load, and waits until a real Prometheus fires it and is silent again. */
export async function playAlerts(say: Say): Promise<Played> {
  const missing = Prometheus.missing();
  if (missing !== undefined) {
    say(`not tried: ${missing}`);
    return { head: HEAD, rows: [], isGood: true };
  }
  const twilio = await startTwilioStandIn();
  const { env, ...setting } = throughTwilio(twilio);
  const world = await World.start({
    ...setting,
    env: { ...env, ...ALERT_ENV },
    othersEnv: SECOND_ENV,
    instances: 2,
    pauseMs: PEOPLE_PAUSE_MS,
  });
  const prometheus = await Prometheus.start([0, 1].map((index) => metricsHost(world, index)));
  const watch = new Watch(prometheus);
  try {
    return await playAll({ world, twilio, prometheus, watch }, say);
  } finally {
    await watch.stop();
    await world.stop();
    await prometheus.stop();
    await world.close();
    await twilio.close();
  }
}

interface Stage {
  world: World;
  twilio: TwilioStandIn;
  prometheus: Prometheus;
  watch: Watch;
}

async function playAll(stage: Stage, say: Say): Promise<Played> {
  const { world, prometheus, watch } = stage;
  const since = Date.now() / 1_000;
  await sql(world, EARLIER_CODES);
  world.startPeople();
  await sleep(QUIET_MS);
  const loud = watch.firedSince(0);
  say(loud.length === 0 ? 'quiet: no alert fired' : `LOUD without a fault: ${loud.join(', ')}`);

  const play = async (fault: AlertFault) => {
    const row = await playOne(fault, stage);
    say(`${row.isGood ? 'fired' : 'BROKEN'}  ${row.cells.join(' | ')}`);
    return row;
  };
  const rows: Row[] = [];
  const beside: Promise<Row>[] = [];
  for (const fault of ALERT_FAULTS)
    if (fault.slow) beside.push(play(fault));
    else rows.push(await play(fault));
  rows.push(...(await Promise.all(beside)));

  const empty = await panelsWithoutData(prometheus, since);
  const count = panels().length;
  say(
    [`panels: ${count - empty.length} of ${count} have data`, ...empty.map((title) => `  none: ${title}`)].join('\n'),
  );
  const names = alertNames();
  const unplayed = names.filter((name) => !rows.some(({ alert }) => alert === name));
  if (unplayed.length > 0) say(`without a fault: ${unplayed.join(', ')}`);
  rows.sort((one, other) => names.indexOf(one.alert) - names.indexOf(other.alert));
  const isGood = loud.length + empty.length + unplayed.length === 0 && rows.every((row) => row.isGood);
  return { head: HEAD, rows, isGood };
}

async function playOne({ alert, title, begin, slow }: AlertFault, { world, twilio, watch }: Stage): Promise<Row> {
  const begun = performance.now();
  const end = await begin(world, twilio);
  const fired = await watch.waitFor(() => watch.firing.has(alert), FIRES_MS);
  await end();
  const ended = performance.now();
  const resolved = await watch.waitFor(() => !watch.firing.has(alert), RESOLVES_MS);
  // A fault may fire other alerts too, also after its own. The next fault waits for them.
  const isCalm = slow === true || (await watch.waitFor(() => watch.isCalm, RESOLVES_MS)) !== undefined;
  const others = watch.firedSince(begun).filter((name) => name !== alert && !SLOW.includes(name));
  const after = (at: number | undefined, from: number) =>
    at === undefined ? 'never' : `${((at - from) / 1_000).toFixed(0)} s`;
  return {
    alert,
    cells: [alert, title, after(fired, begun), after(resolved, ended), slow ? '' : others.join(', ')],
    isGood: fired !== undefined && resolved !== undefined && isCalm,
  };
}

/** Returns the titles of panels of which a question had no answer in the whole run. */
async function panelsWithoutData(prometheus: Prometheus, since: number): Promise<string[]> {
  const empty: string[] = [];
  for (const { title, targets } of panels()) {
    const found = await Promise.all(targets.map(({ expr }) => prometheus.hasData(expr, since)));
    if (found.includes(false)) empty.push(title);
  }
  return empty;
}

/** Looks at the alerts of Prometheus all the time. */
class Watch {
  firing = new Set<string>();
  /** Whether no alert fires or is about to, except those of slow faults. */
  isCalm = true;
  /** Last time at which each alert fired. */
  private readonly last = new Map<string, number>();
  private isRunning = true;
  private readonly looking: Promise<void>;

  constructor(private readonly prometheus: Prometheus) {
    this.looking = this.look();
  }

  async stop(): Promise<void> {
    this.isRunning = false;
    await this.looking;
  }

  /** Returns the alerts that have fired since a time of performance.now(). */
  firedSince(time: number): string[] {
    return [...this.last].filter(([, at]) => at >= time).map(([name]) => name);
  }

  /** Returns the time at which it holds, or undefined if it does not within `patienceMs`. */
  async waitFor(holds: () => boolean, patienceMs: number): Promise<number | undefined> {
    return until(holds, patienceMs, LOOK_MS).then(
      () => performance.now(),
      () => undefined,
    );
  }

  private async look(): Promise<void> {
    while (this.isRunning) {
      const { firing, pending } = await this.prometheus.alerts();
      this.firing = firing;
      this.isCalm = [...firing, ...pending].every((name) => SLOW.includes(name));
      for (const name of this.firing) this.last.set(name, performance.now());
      await sleep(LOOK_MS);
    }
  }
}
