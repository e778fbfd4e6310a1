import { ReturnCode, type AppError } from '../base/errors';
import type { Limits } from '../load/limits';
import { CHANNELS, nameOf } from '../integrations/senders/kinds';
import { countryOf, isMobile, isWithin, masked, type Phone } from '../features/phones/phone-number';
import { budgetOf } from './budget';
import type { Input, Answer, Row, Context } from './command';
import type { FoundEvent, FoundLimit, FoundUser } from './support-repository';
import { claimRow } from './rows';
import { phoneIn } from './who';

const EVENTS = 15;

/** Receipts, in a sentence. */
const DELIVERY: Record<string, string> = { delivered: 'was delivered', failed: 'was not delivered' };

/** Tells why a number gets no code, and why it cannot log in. */
export async function why(context: Context, { words: [given = ''], options }: Input): Promise<Answer> {
  const { reads, support, config } = context;
  const phone = phoneIn(given);
  const id = await reads.userIdOf(phone.number);
  const user = id === undefined ? undefined : await support.user(id);
  const read = () => support.limitsOf(phone.number, namesPer(config.limits, 'phone'));
  const found = await read();
  const lifted = options.fix === true ? await lift(context, found.filter(isFull), options.dryRun === true) : undefined;
  const limits = lifted ? await read() : found;
  const events = await support.eventsOfPhone(masked(phone.number), user?.id, EVENTS);
  const claims = user ? await reads.claimsOf(user.id) : [];
  const traffic = await reads.trafficOf(phone);
  return {
    account: [accountOf(phone, user, user ? await context.reads.sessionsOf(user.id) : [])],
    ...(claims.length > 0 && { 'claims of its number': claims.map(claimRow) }),
    codes: [
      ...(await refusalsOfCodes(context, phone, limits)),
      ...(await lastCodeOf(context, phone)),
      routeTo(context, phone),
      `in the last day, ${countryOf(phone)} was sent ${traffic.day.sent} codes that are old enough to judge, of which ${traffic.day.verified} were verified`,
    ],
    logins: [...closingIn(events, user), ...refusalsOfLogins(context, user, limits)],
    ...(lifted && { lifted }),
    limits: limits.map(limitRow),
    [user ? 'last events' : `last events of numbers like ${masked(phone.number)}`]: events.map(
      ({ at: time, event, detail, ip }): Row => ({ at: time, event, detail, ip }),
    ),
  };
}

function accountOf(phone: Phone, user: FoundUser | undefined, sessions: unknown[]): Row {
  const known = { phone: masked(phone.number), country: countryOf(phone) };
  if (!user) return { ...known, account: 'none' };
  const { id, state, createdAt } = user;
  return { ...known, account: id, state, since: createdAt, sessions: sessions.length };
}

async function refusalsOfCodes(context: Context, phone: Phone, limits: FoundLimit[]): Promise<string[]> {
  const { config } = context;
  const { allowedRegions, phoneCheck } = config.verification;
  const met = metBy(config.limits, limits, (refusal) => refusal instanceof ReturnCode);
  const budget = await budgetOf(context);
  const isFixed = (await context.reads.testNumbers.codeFor(phone)) !== undefined;
  if (isFixed) return ['it is a test number: nothing is sent to it, and TEST_NUMBERS has its code', ...met];
  const reasons = [
    ...(phoneCheck === 'mobile' && !isMobile(phone) ? ['it is not a mobile number (PHONE_CHECK)'] : []),
    ...(isWithin(phone, allowedRegions) ? [] : [`${countryOf(phone)} is not in ALLOWED_REGIONS`]),
    ...met,
    ...(budget?.refused ? [`SEND_CODE_PER_DAY refuses ${budget.refused} until ${budget.ends}`] : []),
  ];
  return reasons.length > 0
    ? reasons
    : ['nothing here holds codes back now: the last events show limits met before, and what the provider said'];
}

/** Tells by which ways codes go to the phone, and which channels no way of the route has. */
function routeTo({ reads }: Context, phone: Phone): string {
  const [key, route] = reads.routes.routeOf(phone);
  const ways = route.flat();
  const missing = CHANNELS.filter((channel) => ways.every((way) => way.channel !== channel));
  const refused =
    missing.length === 0
      ? ''
      : `; no way leads there by ${missing.join(', ')}: an app that asks for these is refused (channel_not_served)`;
  return `codes go by ${ways.map(nameOf).join(', ')} (route of ${key})${refused}`;
}

/** Tells that an account was closed, since its number then looks as if it never had one. */
function closingIn(events: FoundEvent[], user: FoundUser | undefined): string[] {
  const closing = user ? undefined : events.find(({ event }) => event === 'account_closed');
  if (!closing) return [];
  const why = closing.detail ? ` (${closing.detail})` : '';
  return [
    `the account ${closing.userId}, of this number or of one with these digits, was closed at ${closing.at}${why}`,
  ];
}

/** Tells what became of the last code, as far as it is known. */
async function lastCodeOf({ reads }: Context, phone: Phone): Promise<string[]> {
  const last = await reads.lastCode(phone);
  if (!last || last.way === '') return [];
  const { way, at, isVerified, receipt } = last;
  const delivery =
    receipt === '' ? 'its provider has not told what became of it' : `its provider tells that it ${DELIVERY[receipt]}`;
  return [`the last code went by ${way} at ${at}: ${delivery}, and it was ${isVerified ? '' : 'not '}verified`];
}

function refusalsOfLogins({ config }: Context, user: FoundUser | undefined, limits: FoundLimit[]): string[] {
  if (!user) return ['the number has no account: it must register first'];
  const reasons = [
    ...(user.state === 'suspended' ? ['the account is suspended: users restore lets it log in again'] : []),
    ...(user.password === 'none' ? [withoutPassword(config.tokenLogins)] : []),
    ...metBy(config.limits, limits, ({ reason }) => reason === 'too_many_attempts'),
  ];
  return reasons.length > 0 ? reasons : ['nothing here holds logins back now: the password may be wrong'];
}

function withoutPassword({ passwordRequired }: Context['config']['tokenLogins']): string {
  return passwordRequired
    ? 'the account has no password, and PASSWORDS=required wants one: reset_password sets it'
    : 'the account has no password: it logs in by a code, or sets one by reset_password';
}

/** Tells which limits are used up, of those that answer with such a refusal. */
function metBy(limits: Limits, found: FoundLimit[], isSuch: (refusal: AppError) => boolean): string[] {
  const names = Object.values(limits).filter(({ refusal }) => isSuch(refusal(1, Infinity)));
  return found.filter((one) => isFull(one) && names.some(({ name }) => name === one.limit)).map(sentence);
}

/** Clears the full limits of the number. Addresses and the whole service keep theirs. */
async function lift({ services }: Context, full: FoundLimit[], isDry: boolean): Promise<string[]> {
  for (const { key } of isDry ? [] : full) await (await services()).limiter.clearBucket(key);
  const names = [...new Set(full.map(({ limit }) => limit))];
  if (names.length === 0) return ['there was nothing to lift'];
  return names.map((name) => `${isDry ? 'would lift' : 'lifted'} ${name}`);
}

function isFull({ used, amount }: FoundLimit): boolean {
  return used >= amount;
}

function sentence({ limit, subject, used, amount, ends }: FoundLimit): string {
  const [, address] = subject.split(' ');
  return `${limit} is used up (${used} of ${amount})${address ? ` from ${address}` : ''}, until ${ends}`;
}

function limitRow({ limit, subject, used, amount, ends }: FoundLimit): Row {
  return { limit, used, amount, ends, from: subject.split(' ')[1] ?? 'anywhere' };
}

/** Names of the limits that count for a kind of subject, also together with another. */
export function namesPer(limits: Limits, kind: 'phone' | 'user'): string[] {
  const wanted = kind === 'user' ? ['user', 'device'] : ['phone', 'phone and address'];
  return [
    ...new Set(
      Object.values(limits)
        .filter(({ per }) => wanted.includes(per))
        .map(({ name }) => name),
    ),
  ];
}
