import type { Limit, LimitName } from '../load/limits';
import { countryOf, isMobile, isWithin, masked, type Phone } from '../features/phones/phone-number';
import type { Given, Parts, Row, Workplace } from './command';
import type { FoundLimit, FoundUser } from './support-repository';
import { phoneIn } from './who';

const EVENTS = 15;

/** Limits of a phone by the door that they close. */
const CODES = /^(resend|send_per_phone|wrong_codes)/;
const LOGINS = /^(login|password)/;

/** Tells why a number gets no code, and why it cannot log in. */
export async function why(at: Workplace, { words: [given = ''], options }: Given): Promise<Parts> {
  const { services, support, config } = at;
  const phone = phoneIn(given);
  const id = await services.operators.userIdOf(phone.number);
  const user = id === undefined ? undefined : await support.user(id);
  const limits = await support.limitsOf(phone.number, namesPer(config.limits, 'phone'));
  const full = limits.filter(({ used, amount }) => used >= amount);
  const fixed = options.fix === true ? await lift(at, full, options.dryRun === true) : undefined;
  const left = fixed && options.dryRun !== true ? [] : full;
  const events = await support.eventsOfPhone(masked(phone.number), user?.id, EVENTS);
  const traffic = await services.operators.trafficOf(phone);
  return {
    account: [accountOf(phone, user)],
    codes: [
      ...(await refusalsOfCodes(at, phone, left)),
      `in the last day, ${countryOf(phone)} was sent ${traffic.day.sent} codes that are judged, of which ${traffic.day.verified} were verified`,
    ],
    logins: refusalsOfLogins(user, left),
    ...(fixed && { lifted: fixed }),
    limits: limits.map(limitRow),
    'last events': events.map(({ at: time, event, detail, ip }): Row => ({ at: time, event, detail, ip })),
  };
}

function accountOf(phone: Phone, user: FoundUser | undefined): Row {
  const known = { phone: masked(phone.number), country: countryOf(phone) };
  if (!user) return { ...known, account: 'none' };
  const { id, state, createdAt, sessions } = user;
  return { ...known, account: id, state, since: createdAt, sessions };
}

async function refusalsOfCodes({ config, support }: Workplace, phone: Phone, full: FoundLimit[]): Promise<string[]> {
  const { allowedRegions, phoneCheck } = config.verification;
  const reasons = full.filter(({ limit }) => CODES.test(limit)).map(sentence);
  if (!isWithin(phone, allowedRegions)) reasons.unshift(`${countryOf(phone)} is not in ALLOWED_REGIONS`);
  if (phoneCheck === 'mobile' && !isMobile(phone)) reasons.unshift('it is not a mobile number (PHONE_CHECK)');
  const budget = await support.limitsOf('all', ['send_in_all']);
  for (const one of budget)
    if (one.used >= one.amount) reasons.push(`the day's budget is spent (SEND_CODE_PER_DAY), until ${one.ends}`);
  return reasons.length > 0
    ? reasons
    : ['nothing here holds codes back now: see the last events for what the provider said'];
}

function refusalsOfLogins(user: FoundUser | undefined, full: FoundLimit[]): string[] {
  if (!user) return ['the number has no account: it must register first'];
  const reasons = full.filter(({ limit }) => LOGINS.test(limit)).map(sentence);
  return reasons.length > 0 ? reasons : ['nothing here holds logins back now: the password may be wrong'];
}

/** Clears the full limits of the number. Addresses and the whole service keep theirs. */
async function lift({ services }: Workplace, full: FoundLimit[], isDry: boolean): Promise<string[]> {
  for (const { limit, subject } of isDry ? [] : full) await services.operators.clearLimit(limit, subject);
  const names = [...new Set(full.map(({ limit }) => limit))];
  if (names.length === 0) return ['there was nothing to lift'];
  return names.map((name) => `${isDry ? 'would lift' : 'lifted'} ${name}`);
}

function sentence({ limit, subject, used, amount, ends }: FoundLimit): string {
  const [, address] = subject.split(' ');
  return `${limit} is used up (${used} of ${amount})${address ? ` from ${address}` : ''}, until ${ends}`;
}

function limitRow({ subject, ...row }: FoundLimit): Row {
  return { ...row, from: subject.split(' ')[1] ?? 'anywhere' };
}

/** Names of the limits that count for a kind of subject, also together with another. */
export function namesPer(limits: Record<LimitName, Limit>, kind: 'phone' | 'user'): string[] {
  const wanted = kind === 'user' ? ['user', 'device'] : ['phone', 'phone and address'];
  return [
    ...new Set(
      Object.values(limits)
        .filter(({ per }) => wanted.includes(per))
        .map(({ name }) => name),
    ),
  ];
}
