import type { TestApp } from '../support/app';
import { newPhone, type PhoneFields } from '../support/people';
import { post } from '../support/calls';

/** Minutes of a step. Users ask for 1,008 codes a day, and verify four of five. */
const STEP = 3;
const USERS_A_MINUTE = 0.7;
const NETWORKS_OF_USERS = 300;
/** Every tenth user is in a network without a verified code before. */
const NEWCOMERS = 10;
/** Refusals in a row after which the attacker stops for this step. */
const PATIENCE = 6;

/** Returns the address in the attacker's network with this index. */
type NetworkAt = (index: number) => string;

export interface Attack {
  networks: number;
  /** By default each is in a wide network of its own. */
  at?: NetworkAt;
  hours: number;
  /** Phones with an account, which the attacker asks for before others. */
  accounts?: PhoneFields[];
  /** Returns a solved captcha. Users solve one when they are asked to. */
  captcha?: () => object;
  /** Whether the attacker solves captchas too. */
  solves?: boolean;
}

export interface Served {
  served: number;
  refused: number;
}

export interface Outcome {
  sentToAttacker: number;
  captchasOfAttacker: number;
  /** Users in networks where codes were verified in the last fortnight. */
  users: Served;
  newcomers: Served;
}

/** IPv4 networks: each in another /16, as long as there are some. */
export const anywhere: NetworkAt = (index) => `${24 + (index & 127)}.${(index >> 7) & 255}.7.1`;
/** The /48s of one /36 of IPv6, which one customer may have. */
export const oneIPv6Prefix: NetworkAt = (index) => `2a0e:97c0:${((index & 4_095) << 4).toString(16)}::1`;

const userAt: NetworkAt = (index) => `20.${18 + (index % 30)}.${Math.floor(index / 30)}.1`;
const newcomerAt: NetworkAt = (index) => `21.${index & 255}.${index >> 8}.1`;

/** Plays an attacker who has as many codes sent as the service allows, while a country's ordinary users go on. */
export async function playDay(app: TestApp, attack: Attack): Promise<Outcome> {
  const { networks, at = anywhere, hours, accounts = [], captcha, solves = false } = attack;
  const none = () => ({ served: 0, refused: 0 });
  const outcome: Outcome = { sentToAttacker: 0, captchasOfAttacker: 0, users: none(), newcomers: none() };
  let asked = 0;
  let users = 0;
  const attackNow = async (): Promise<void> => {
    for (let refusals = 0; refusals < PATIENCE; asked += 1) {
      const phone = accounts[asked % (2 * accounts.length || 1)] ?? newPhone();
      const from = at(asked % networks);
      let answer = await send(app, phone, from);
      if (solves && captcha && answer === 'captcha_required') {
        outcome.captchasOfAttacker += 1;
        answer = await send(app, phone, from, captcha());
      }
      outcome.sentToAttacker += Number(answer === 'sent');
      refusals = answer === 'sent' ? 0 : refusals + 1;
    }
  };
  const serveUser = async (): Promise<void> => {
    const phone = newPhone();
    users += 1;
    const isNew = users % NEWCOMERS === 0;
    const from = isNew ? newcomerAt(users / NEWCOMERS) : userAt(users % NETWORKS_OF_USERS);
    let answer = await send(app, phone, from);
    if (captcha && answer === 'captcha_required') answer = await send(app, phone, from, captcha());
    outcome[isNew ? 'newcomers' : 'users'][answer === 'sent' ? 'served' : 'refused'] += 1;
    // One of five, each time from other networks.
    if (answer !== 'sent' || (users + Math.floor(users / 7)) % 5 === 0) return;
    const code = app.sms.codeFor(`+${phone.region}${phone.phone}`);
    await post(app.api, '/user/verify_code', { ...phone, code }, { 'X-Forwarded-For': from });
  };
  for (let minutes = STEP; minutes <= hours * 60; minutes += STEP) {
    await attackNow();
    while (users + 1 <= minutes * USERS_A_MINUTE) await serveUser();
    app.sms.sent.length = 0;
    await later(app, STEP);
  }
  return outcome;
}

/** Inserts a usual fortnight of the country and of its users' networks. */
export async function usualPast(app: TestApp): Promise<void> {
  await app.db.raw(`
    INSERT INTO sms_traffic (region, slot, sent, verified)
    SELECT 'GB', slot, 7, 6 FROM generate_series(
      sms_traffic_slot(now()) - interval '15 days', sms_traffic_slot(now()) - interval '10 minutes',
      interval '10 minutes') slot`);
  const slot = app.db.raw(`sms_traffic_slot(now() - interval '5 days')`);
  const networks = Array.from({ length: NETWORKS_OF_USERS }, (_, index) => userAt(index).replace(/\d+$/, '0/24'));
  await app.db('sms_networks').insert(networks.map((network) => ({ network, slot, sent: 5, verified: 4 })));
}

async function send(app: TestApp, { region, phone }: PhoneFields, from: string, captcha = {}): Promise<string> {
  const answer = await post(app.api, '/user/send_code', { region, phone, ...captcha }, { 'X-Forwarded-For': from });
  return (answer.body as { code: number }).code === 200 ? 'sent' : String(answer.headers['x-reason']);
}

/** Makes everything that the service remembers older. */
async function later({ db }: TestApp, minutes: number): Promise<void> {
  // An instance remembers a full limit for a moment.
  jest.spyOn(Date, 'now').mockReturnValue(Date.now() + minutes * 60_000);
  for (const table of ['sms_traffic', 'sms_networks']) {
    // By way of the distant past, so that a row does not meet the one before it.
    await db.raw(`UPDATE ${table} SET slot = slot - interval '1000 days'`);
    await db.raw(`UPDATE ${table} SET slot = slot + interval '1000 days' - interval '${minutes} minutes'`);
  }
  await db.raw(`UPDATE rate_limits SET resets_at = resets_at - interval '${minutes} minutes'`);
  await db.raw(`UPDATE verification_codes SET created_at = created_at - interval '${minutes} minutes',
                                              expires_at = expires_at - interval '${minutes} minutes'`);
}
