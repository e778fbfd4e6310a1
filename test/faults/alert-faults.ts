import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVICE_ROLE } from '../../src/database/service-role';
import { connectTo } from '../support/clusters';
import type { TwilioStandIn } from '../support/stand-ins/twilio';
import { sql } from './faults';
import type { World } from './world';

/** Ends a fault. */
type End = () => Promise<unknown> | void;

export interface AlertFault {
  /** Name of the alert that it must fire. */
  alert: string;
  /** The title in the table. */
  title: string;
  /** Included in the part that is played beside all others, since it takes a minute. */
  slow?: true;
  begin: (world: World, twilio: TwilioStandIn) => Promise<End>;
}

/** Settings under which each fault can be made, and under which the people of the run meet no limit. */
export const ALERT_ENV = {
  // Addresses of strangers are in X-Forwarded-For.
  TRUST_PROXY: '1',
  SPEND_GUARD: 'enforce',
  SEND_CODE_PER_DAY: '100000',
  LOGIN_FAILURES_PER_IP: '100',
  CHECKS_PER_IP_MINUTE: '100000',
};

/** The second instance has a budget that the people at the first one have spent. */
export const SECOND_ENV = { SEND_CODE_PER_DAY: '20' };

const SECOND = 1;
const TURN = { stoppedMs: 700, runningMs: 300 };

/** Returns the host and port of an instance's metrics, which it prints at its start. */
export function metricsHost(world: World, index: number): string {
  const [, host] = /^ +metrics +http:\/\/(\S+)\/metrics$/m.exec(world.instances[index]?.stdout ?? '') ?? [];
  if (host === undefined) throw new Error(`instance ${index} printed no address of metrics`);
  return host;
}

interface Stranger {
  address: string;
  /** Number of the instance. */
  instance?: number;
  cookie?: string | undefined;
}

/** Calls as a stranger, whatever the answer. */
async function call(world: World, path: string, body: object, { address, instance = 0, cookie }: Stranger) {
  const headers = { 'X-Forwarded-For': address, ...(cookie !== undefined && { Cookie: cookie }) };
  const url = `${world.instances[instance]?.url}/user/${path}`;
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body), headers }).catch(() => undefined);
  await answer?.arrayBuffer().catch(() => undefined);
}

/** Calls again and again, by a number of clients at once. */
function keep(clients: number, pauseMs: number, doing: (client: number) => Promise<unknown>): End {
  let isRunning = true;
  const going = Array.from({ length: clients }, async (_, client) => {
    while (isRunning) {
      await doing(client);
      await sleep(pauseMs);
    }
  });
  return () => {
    isRunning = false;
    return Promise.all(going);
  };
}

/** Opens a transaction of another session. */
async function transaction({ cluster }: World, statement: string): Promise<End> {
  const client = await connectTo(cluster.url);
  await client.query(`BEGIN; ${statement}`);
  return () => client.end();
}

/** Takes a right from the role of the service, as a restore may do. */
async function without(world: World, right: string, table: string): Promise<End> {
  await sql(world, `REVOKE ${right} ON ${table} FROM ${SERVICE_ROLE}`);
  return () => sql(world, `GRANT ${right} ON ${table} TO ${SERVICE_ROLE}`);
}

/** Adds a webhook without a receiver, from the first event on. */
async function addWebhook(world: World, pausedAt: 'now()' | 'NULL'): Promise<End> {
  await sql(
    world,
    `INSERT INTO webhooks (id, url, kinds, secret, version, number, subject, paused_at)
     VALUES ('ill', 'https://127.0.0.1:1', '{}', 'whsec_', 0, 0, '', ${pausedAt})`,
  );
  return () => sql(world, `DELETE FROM webhooks WHERE id = 'ill'`);
}

const mobileOf = (region: number) => ({
  region,
  phone: (region === 33 ? 600_000_000 : 7_500_000_000) + randomInt(90_000_000),
});

/** The fault of each alert, in the order in which they are made. */
export const ALERT_FAULTS: AlertFault[] = [
  {
    alert: 'InstanceAway',
    title: 'kill -9 of an instance',
    begin: async (world) => {
      const [, METRICS_PORT = ''] = metricsHost(world, SECOND).split(':');
      world.instances[SECOND]?.signal('SIGKILL');
      return () => world.startInstance(SECOND, { METRICS_PORT });
    },
  },
  {
    alert: 'DatabaseAway',
    title: 'PostgreSQL is shut down',
    begin: async ({ cluster }) => {
      await cluster.stop();
      return () => cluster.start();
    },
  },
  {
    alert: 'OldTransaction',
    title: 'another session writes a row, and does not commit',
    slow: true,
    begin: (world) =>
      transaction(world, `INSERT INTO groups (id, name, creator_id) VALUES ('held', 'held', '${world.people[0]?.id}')`),
  },
  {
    alert: 'SweepsFail',
    title: 'the role of the service may not delete captchas',
    slow: true,
    begin: (world) => without(world, 'DELETE', 'captchas'),
  },
  {
    alert: 'DeliveryLag',
    title: 'a webhook has no receiver, and its next event is an hour old',
    begin: async (world) => {
      await sql(world, `UPDATE events SET at = now() - interval '1 hour'`);
      return addWebhook(world, 'NULL');
    },
  },
  {
    alert: 'WebhookPaused',
    title: 'a webhook is paused',
    begin: (world) => addWebhook(world, 'now()'),
  },
  {
    alert: 'CodesHeldBack',
    title: 'one network asks for codes to another country, and verifies none',
    begin: async (world) => keep(1, 60, () => call(world, 'send_code', mobileOf(33), { address: '198.51.100.7' })),
  },
  {
    alert: 'EventLoopBlocked',
    title: 'an instance is stopped (SIGSTOP) for 0.7 s of each second',
    begin: async (world) => {
      const end = keep(1, TURN.runningMs, async () => {
        world.instances[SECOND]?.signal('SIGSTOP');
        await sleep(TURN.stoppedMs);
        world.instances[SECOND]?.signal('SIGCONT');
      });
      return end;
    },
  },
  {
    alert: 'QueueRefuses',
    title: 'a client reads its groups 40 times at once, again and again',
    begin: async (world) =>
      keep(1, 300, () => {
        const [cookie] = world.people[0]?.cookies ?? [];
        const once = () => call(world, 'groups', {}, { address: '203.0.113.8', cookie });
        return Promise.all(Array.from({ length: 40 }, once));
      }),
  },
  {
    alert: 'PasswordsGuessed',
    title: 'one address tries passwords of many phones',
    begin: async (world) =>
      keep(4, 100, () => call(world, 'login', { ...mobileOf(44), password: 'guessed-it' }, { address: '203.0.113.9' })),
  },
  {
    alert: 'BudgetSpent',
    title: 'codes are asked for at an instance whose SEND_CODE_PER_DAY is spent',
    begin: async (world) =>
      keep(1, 500, () => call(world, 'send_code', mobileOf(44), { address: '192.0.2.50', instance: SECOND })),
  },
  {
    alert: 'MessagesFail',
    title: 'the SMS provider answers each message with 500',
    begin: async (_world, twilio) => {
      twilio.behave({ status: 500, code: 20500 });
      return () => twilio.behave('accept');
    },
  },
  {
    alert: 'RequestsFail',
    title: 'the role of the service may not read blacklists',
    begin: (world) => without(world, 'SELECT', 'blacklist'),
  },
  {
    alert: 'RequestsSlow',
    title: 'another session locks the table of blacklists',
    begin: (world) => transaction(world, 'LOCK TABLE blacklist IN ACCESS EXCLUSIVE MODE'),
  },
  {
    alert: 'ConnectionsTaken',
    title: 'another session locks the table of limits, which 20 clients need',
    begin: async (world) => {
      const unlock = await transaction(world, 'LOCK TABLE rate_limits IN ACCESS EXCLUSIVE MODE');
      const stop = keep(20, 50, (client) =>
        call(world, 'check_phone_available', mobileOf(44), { address: `203.0.113.${100 + client}` }),
      );
      return async () => {
        await unlock();
        await stop();
      };
    },
  },
  {
    alert: 'EventsMissing',
    title: 'another session locks the audit trail',
    begin: (world) => transaction(world, 'LOCK TABLE security_events IN SHARE MODE'),
  },
];
