import { randomInt } from 'node:crypto';
import { amount } from '../../support/amounts';
import { startApp, type TestApp } from '../../support/app';
import { post, type Answer } from '../../support/calls';
import { Choices } from '../../support/choices';
import { e164, field, newPhone, type PhoneFields } from '../../support/people';
import { Vendors, type Asked, type Fate, type WayName } from '../../support/vendors';

/** Goes on until each outcome was seen, for at most 100 rounds. */
const ROUNDS = amount(100);
const MOST_ROUNDS = Math.max(ROUNDS, 100);
const OUTCOMES = ['sent', 'unknown', 'failed', 'refused', 'verified', 'wrong'];
const seed = Number(process.env.WAYS_SEED ?? randomInt(2 ** 31));

const STEPS: WayName[][] = [
  ['telegram'],
  ['twilio sms', 'http sms'],
  ['twilio-verify sms', 'twilio-verify voice'],
  ['whatsapp'],
  ['http voice', 'twilio voice'],
];
const CHANNELS = [undefined, undefined, undefined, 'sms', 'voice', 'whatsapp', 'telegram'] as const;
const VENDORS = ['twilio', 'whatsapp', 'telegram', 'http'] as const;
type Vendor = (typeof VENDORS)[number];
const FATES: [Fate, ...Fate[]] = [
  ...(['accept', 'accept', 'accept', 'refuse', 'refuse', 'refuse', 'fail', 'fail', 'fail', 'reset', 'reset'] as const),
  'hang',
];
/** Time-outs in a row after which a sender is passed over. */
const PATIENCE = 3;
/** Messages and comparisons that Twilio allows for one of its codes. */
const MOST_OF_VERIFY = 5;

/** Messages that one by this way counts as in the day's budget. */
const costOf = (way: WayName) => (channelOf(way) === 'voice' ? 3 : 1);

const senderOf = (way: WayName) => way.split(' ')[0] ?? '';
const channelOf = (way: WayName) => way.split(' ').at(-1) ?? '';
const vendorOf = (way: WayName) => senderOf(way).replace('-verify', '') as Vendor;
const isKnown = (fate: Fate) => fate === 'refuse' || fate === 'fail';

/** A code that a phone was sent, or may have been sent. */
interface Row {
  way: WayName;
  /** Undefined for a code of Twilio, which has it. */
  code: string | undefined;
  isVerified: boolean;
}

interface Owner {
  phone: PhoneFields;
  rows: Row[];
  /** All codes that the owner has read. */
  read: Set<string>;
  verify: { sent: number; checked: number };
  counted: number;
}

describe(`codes over all ways, with random faults (WAYS_SEED=${seed})`, () => {
  const choices = new Choices(seed);
  let vendors: Vendors;
  let app: TestApp;
  let fates: Record<Vendor, Fate>;
  const timeOuts: Record<string, number> = {};
  const seen: Record<string, number> = {};
  let countedInAll = 0;
  let countedOfAddress = 0;

  beforeAll(async () => {
    vendors = await Vendors.start();
    const routes = { GB: STEPS.map((step) => Object.fromEntries(step.map((way) => [way, 1]))), '*': ['console'] };
    const limits = {
      SEND_CODE_PER_PHONE_DAY: '100000',
      SEND_CODE_PER_IP_HOUR: '100000',
      SEND_CODE_PER_DAY: '100000',
      CODE_MAX_ATTEMPTS: '1000',
      CODE_TTL_SECONDS: '3600',
      WRONG_CODES_PER_PHONE_DAY: '0',
      WRONG_CODES_PER_PHONE_AND_IP_DAY: '0',
    };
    const env = { ...vendors.env(routes), ...limits, CAPTCHA_POLICY: 'off' };
    app = await startApp(env, { realSms: true, vendorTimeoutMs: 1_500 });
  });
  afterAll(async () => {
    await app.close();
    await vendors.close();
  });

  // guard ways-random-1: a message that may arrive ends the ways, whatever has failed before it
  // src/features/sending/sending.ts
  // - if (error instanceof SendingTimedOut) throw error;
  // guard ways-random-2: a code that was not sent by any way costs the phone nothing
  // src/features/verification/send-code-service.ts
  // - if (wasProviderAsked(error)) await taken.giveBackButAddress();
  // + if (wasProviderAsked(error)) await Promise.resolve();
  // guard ways-random-3: a code that no way has taken is not valid
  // src/features/verification/code-sender.ts
  // - await verification.withdrawCode(id, phone);
  it('are never two at once, count once, and go on only after a known failure', async () => {
    const owners = Array.from({ length: 3 }, (): Owner => {
      const phone = newPhone();
      return { phone, rows: [], read: new Set(), verify: { sent: 0, checked: 0 }, counted: 0 };
    });
    const isOver = (round: number) => round >= ROUNDS && OUTCOMES.every((outcome) => outcome in seen);
    let round = 0;
    for (; round < MOST_ROUNDS && !isOver(round); round += 1) {
      const owner = choices.oneOf(owners as [Owner, ...Owner[]]);
      fates = Object.fromEntries(VENDORS.map((vendor) => [vendor, choices.oneOf(FATES)])) as Record<Vendor, Fate>;
      for (const vendor of VENDORS) vendors.behave(vendor, fates[vendor]);
      if (owner.verify.sent >= MOST_OF_VERIFY - 1) forget(owner);
      await app.db('rate_limits').where('key', 'like', 'resend%').delete();
      const channel = choices.oneOf(CHANNELS);
      const before = vendors.asked().length;
      const answer = await post(app.api, '/user/send_code', { ...owner.phone, ...(channel && { channel }) });
      const asked = vendors.asked().slice(before);
      checkOrder(asked, channel, answer);
      note(owner, asked);
      await checkRow(owner);
      await checkCounts(owner, asked);
      await tryCodes(owner);
    }
    process.stdout.write(`${round} rounds: ${JSON.stringify(seen)}\n`);
    // Otherwise the rounds have proved little.
    for (const outcome of OUTCOMES) expect(seen).toHaveProperty(outcome);
  }, 1_800_000);

  const fateOf = ({ way }: Asked) => fates[vendorOf(way)];
  const mayBeSkipped = (way: WayName) => (timeOuts[senderOf(way)] ?? 0) >= PATIENCE;
  const count = (what: string) => (seen[what] = (seen[what] ?? 0) + 1);

  /** The steps follow each other, the next way only a known failure, and the answer is that of the last way. */
  function checkOrder(asked: Asked[], channel: string | undefined, answer: Answer): void {
    const steps = STEPS.map((step) => step.filter((way) => channel === undefined || channelOf(way) === channel));
    const ways = asked.map(({ way }) => way);
    const stepOf = (way: WayName) => steps.findIndex((step) => step.includes(way));
    expect(new Set(ways).size).toBe(ways.length);
    expect(ways.map(stepOf)).toEqual(ways.map(stepOf).sort((a, b) => a - b));
    const last = asked.at(-1);
    const isEnd = last !== undefined && !isKnown(fateOf(last));
    for (const one of asked.slice(0, -1)) expect(isKnown(fateOf(one))).toBe(true);
    const passed = steps.slice(0, isEnd ? stepOf(last.way) : steps.length).flat();
    const skipped = passed.filter((way) => !ways.includes(way));
    expect(skipped.filter((way) => !mayBeSkipped(way))).toEqual([]);
    const told = { status: answer.status, reason: answer.headers['x-reason'], channel: answer.headers['x-channel'] };
    if (last !== undefined && fateOf(last) === 'accept')
      expect(told).toEqual({ status: 200, reason: undefined, channel: channelOf(last.way) });
    else if (isEnd) expect(told).toEqual({ status: 503, reason: 'sms_unconfirmed', channel: undefined });
    else if (skipped.length === 0 && asked.every((one) => fateOf(one) === 'refuse'))
      expect(told).toEqual({ status: 400, reason: 'undeliverable', channel: undefined });
    else expect(told).toEqual({ status: 503, reason: 'sms_failed', channel: undefined });
    count(isEnd ? (fateOf(last) === 'accept' ? 'sent' : 'unknown') : told.status === 400 ? 'refused' : 'failed');
  }

  /** Notes which code the owner may have now. */
  function note(owner: Owner, asked: Asked[]): void {
    for (const one of asked) {
      const sender = senderOf(one.way);
      const isUnknown = fateOf(one) === 'hang' || fateOf(one) === 'reset';
      timeOuts[sender] = isUnknown ? (timeOuts[sender] ?? 0) + 1 : 0;
      // A vendor that breaks the connection may still deliver, also a message for which another one was sent before.
      if (one.code !== undefined) owner.read.add(one.code);
    }
    const last = asked.at(-1);
    if (last === undefined || isKnown(fateOf(last))) return;
    owner.rows.push({ way: last.way, code: last.code, isVerified: false });
    if (last.code !== undefined || fateOf(last) !== 'accept') return;
    owner.verify.sent += 1;
    owner.read.add(vendors.codeOf(last));
  }

  async function checkRow({ phone, rows }: Owner): Promise<void> {
    const stored = app.db('verification_codes').where({ phone: e164(phone) });
    expect(await stored.orderBy('id').pluck('way')).toEqual(rows.map(({ way }) => way));
  }

  /**
   * A code counts once, whatever it went through, and in the day's budget as its last way costs. One that was not sent
   * counts only for the address.
   */
  async function checkCounts(owner: Owner, asked: Asked[]): Promise<void> {
    const last = asked.at(-1);
    const isSent = last !== undefined && !isKnown(fateOf(last));
    owner.counted += Number(isSent);
    if (isSent) countedInAll += costOf(last.way);
    countedOfAddress += Number(asked.length > 0);
    const used = async (pattern: string) => {
      const rows = await app.db('rate_limits').where('key', 'like', pattern).select<{ used: number }[]>('used');
      return Math.max(0, ...rows.map((row) => row.used));
    };
    expect({
      phone: await used(`send_per_phone%${e164(owner.phone)}`),
      all: await used('send_in_all%'),
      address: await used('send_per_address%'),
    }).toEqual({ phone: owner.counted, all: countedInAll, address: countedOfAddress });
  }

  /** No code but that of the newest row is right, and that one is, once. */
  async function tryCodes(owner: Owner): Promise<void> {
    const newest = owner.rows.at(-1);
    if (!newest) return;
    const right = rightCodeOf(owner, newest);
    const others = [...owner.read].filter((code) => code !== right).slice(-2);
    const tries = choices.numberBelow(3) === 0 && right !== undefined ? [...others, right] : others;
    for (const code of tries) {
      if (newest.code === undefined && !newest.isVerified && owner.verify.checked >= MOST_OF_VERIFY) return;
      const answer = await post(app.api, '/user/verify_code', { ...owner.phone, code });
      // Twilio has no code to compare if its connection broke before it took the message.
      const isOver = newest.isVerified || right === undefined;
      const expected = isOver ? 2000 : code === right ? 200 : 1000;
      expect(field(answer.body, 'code')).toBe(expected);
      count(expected === 200 ? 'verified' : 'wrong');
      if (newest.code === undefined && !newest.isVerified) {
        timeOuts['twilio-verify'] = 0;
        if (right !== undefined) owner.verify.checked += 1;
      }
      if (expected !== 200) continue;
      newest.isVerified = true;
      if (newest.code === undefined) owner.verify = { sent: 0, checked: 0 };
    }
  }

  function rightCodeOf({ phone, verify }: Owner, { way, code, isVerified }: Row): string | undefined {
    if (isVerified) return undefined;
    if (code !== undefined) return code;
    return verify.sent > 0 ? vendors.codeOf({ way, to: e164(phone), code, at: 0 }) : undefined;
  }

  function forget(owner: Owner): void {
    vendors.twilio.forget(e164(owner.phone));
    owner.verify = { sent: 0, checked: 0 };
  }
});
