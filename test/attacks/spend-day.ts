import type { TestApp } from '../support/app';
import { newPhone, type PhoneFields } from '../support/people';
import { post } from '../support/calls';

/** Users of a step of ten minutes. They ask for seven codes, which is 1,008 a day, and verify four of five. */
const USERS_A_STEP = 7;
const NETWORKS_OF_USERS = 300;
/** Refusals in a row after which the attacker stops for this step. */
const PATIENCE = 30;

export interface Attack {
  addresses: number;
  steps: number;
  /** Phones with an account, which the attacker asks for before others. */
  accounts?: PhoneFields[];
}

export interface Outcome {
  sentToAttacker: number;
  usersServed: number;
  usersRefused: number;
}

/** Plays an attacker who has as many codes sent as the service allows, while a country's ordinary users go on. */
export async function playDay(app: TestApp, { addresses, steps, accounts = [] }: Attack): Promise<Outcome> {
  const outcome = { sentToAttacker: 0, usersServed: 0, usersRefused: 0 };
  let asked = 0;
  let users = 0;
  const attack = async (): Promise<void> => {
    for (let refusals = 0; refusals < PATIENCE; asked += 1) {
      const phone = accounts[asked % (2 * accounts.length || 1)] ?? newPhone();
      const isSent = await send(app, phone, address(198, asked % addresses));
      outcome.sentToAttacker += Number(isSent);
      refusals = isSent ? 0 : refusals + 1;
    }
  };
  const serveUser = async (): Promise<void> => {
    const phone = newPhone();
    const from = address(20, (users += 1) % NETWORKS_OF_USERS);
    if (!(await send(app, phone, from))) return void (outcome.usersRefused += 1);
    outcome.usersServed += 1;
    if (users % 5 === 0) return;
    const code = app.sms.codeFor(`+${phone.region}${phone.phone}`);
    await post(app.api, '/user/verify_code', { ...phone, code }, from);
  };
  for (let step = 0; step < steps; step += 1) {
    await attack();
    for (let user = 0; user < USERS_A_STEP; user += 1) await serveUser();
    app.sms.sent.length = 0;
    await tenMinutesLater(app);
  }
  return outcome;
}

/** Inserts a usual fortnight. */
export async function usualPast(app: TestApp): Promise<void> {
  await app.db.raw(`
    INSERT INTO sms_traffic (region, slot, sent, verified)
    SELECT 'GB', slot, 7, 6 FROM generate_series(
      sms_traffic_slot(now()) - interval '15 days', sms_traffic_slot(now()) - interval '10 minutes',
      interval '10 minutes') slot`);
}

async function send(app: TestApp, { region, phone }: PhoneFields, from: Record<string, string>): Promise<boolean> {
  const { body } = await post(app.api, '/user/send_code', { region, phone }, from);
  return (body as { code: number }).code === 200;
}

function address(first: number, index: number): Record<string, string> {
  return { 'X-Forwarded-For': `${first}.${18 + (index >> 8)}.${index & 255}.1` };
}

/** Makes everything that the service remembers ten minutes older. */
async function tenMinutesLater({ db }: TestApp): Promise<void> {
  for (const table of ['sms_traffic', 'sms_networks']) {
    // By way of the distant past, so that a row does not meet the one before it.
    await db.raw(`UPDATE ${table} SET slot = slot - interval '1000 days'`);
    await db.raw(`UPDATE ${table} SET slot = slot + interval '1000 days' - interval '10 minutes'`);
  }
  await db.raw(`UPDATE rate_limits SET resets_at = resets_at - interval '10 minutes'`);
  await db.raw(`UPDATE verification_codes SET created_at = created_at - interval '10 minutes',
                                              expires_at = expires_at - interval '10 minutes'`);
}
