/** Numbers of codes sent, and of those that were verified. */
export interface Traffic {
  sent: number;
  verified: number;
}

export interface RegionTraffic {
  hour: Traffic;
  day: Traffic;
  /** The fortnight before that day. */
  past: Traffic;
  /** Average codes in a quarter of an hour of the past, without quarters that had no code. */
  usualQuarter: number;
  /** Codes sent just now, which are neither verified nor judged. */
  open: number;
}

/** Far fewer codes than usual were verified. */
export interface ShareAlarm extends Traffic {
  window: 'hour' | 'day';
  /** The share of codes that was verified in the past. */
  usual: number;
}

/** More codes than ever are pending at once. */
export interface BurstAlarm {
  window: 'quarter hour';
  open: number;
  most: number;
}

/** One network requested many codes, and hardly any of them was verified. */
export interface NetworkAlarm extends Traffic {
  window: 'network';
}

export type Alarm = ShareAlarm | BurstAlarm | NetworkAlarm;

/** Minimum codes in the past. With fewer, the region has no past. */
const LEAST_PAST = 100;
/** Minimum codes for an alarm. Fewer prove nothing. */
const LEAST = { hour: 20, day: 60 };
/** Minimum codes for an alarm in a region without a past. It is lower, since hardly anybody there waits for a code. */
const LEAST_IN_NEW = { hour: 12, day: 36 };
/** Assumed share of verified codes in a region without a past. */
const ASSUMED = 0.5;
/** Lower bound for `usual`, so that a long attack cannot become its own baseline. */
const LEAST_USUAL = 0.2;
/** Alarming part of the usual share. Far below the worst honest day; almost no code of a fraud is verified. */
const ALARMING = 0.25;
/** Minimum codes of a day, and minimum verified share, of a region that is judged only by itself. */
const PROVEN = { sent: 20, share: 0.25 };
/** Maximum counted codes of a region among regions judged together: an attack on one does not close the others. */
export const SHARE_OF_ONE = { hour: 5, day: 10 };
/** Maximum pending codes, as a multiple of the usual number. */
const GROWTH = 3;
const QUARTERS_AN_HOUR = 4;

/** Codes that may always be pending, also without a past. */
export const FLOOR = { region: 50, together: 150 };

/** Minimum open codes of a network that may be behind an alarm. Such a network verifies less than half of its codes. */
const LEAST_BEHIND = 3;

/** Share of the day's budget that is much for one network. Fewer codes than `least` are never much. */
const MUCH = { share: 0.05, least: 20 };

type Judged = Pick<RegionTraffic, 'hour' | 'day' | 'past'>;

/** Detects toll fraud by codes that are never verified: the verified share falls far below the region's own past. */
export function alarmOf({ hour, day, past }: Judged): ShareAlarm | undefined {
  if (past.sent < LEAST_PAST) return alarmBy(ASSUMED, LEAST_IN_NEW, { hour, day });
  return alarmBy(Math.max(past.verified / past.sent, LEAST_USUAL), LEAST, { hour, day });
}

/** Like `alarmOf`, but for regions that are judged together, whose pasts differ. */
export function alarmOfAll(traffic: Omit<Judged, 'past'>): ShareAlarm | undefined {
  return alarmBy(ASSUMED, LEAST, traffic);
}

function alarmBy(usual: number, least: typeof LEAST, { hour, day }: Omit<Judged, 'past'>): ShareAlarm | undefined {
  const isAlarming = ({ sent, verified }: Traffic, enough: number) =>
    sent >= enough && verified / sent < ALARMING * usual;
  if (isAlarming(hour, least.hour)) return { window: 'hour', usual, ...hour };
  if (isAlarming(day, least.day)) return { window: 'day', usual, ...day };
  return undefined;
}

/** Caps codes that are neither verified nor judged: a burst is over before any of its codes can be judged. */
export function burstOf(traffic: RegionTraffic, ahead: number, floor: number): BurstAlarm | undefined {
  const most = mostOpen(traffic, floor);
  const open = traffic.open + ahead;
  return open >= most ? { window: 'quarter hour', open, most } : undefined;
}

/** Returns the maximum of open codes: by the past, or by codes verified in the last hour, so that a launch may grow. */
export function mostOpen({ usualQuarter, hour }: RegionTraffic, floor: number): number {
  return Math.max(floor, Math.ceil(GROWTH * Math.max(usualQuarter, hour.verified / QUARTERS_AN_HOUR)));
}

/** Judges a network by its day only, and by the assumed share. Pending codes count, since people verify theirs soon. */
export function alarmOfNetwork({ sent, verified }: Traffic): NetworkAlarm | undefined {
  const isAlarming = sent >= LEAST.hour && verified / sent < ALARMING * ASSUMED;
  return isAlarming ? { window: 'network', sent, verified } : undefined;
}

/** Whether a network may be behind an alarm. Such networks are refused first. */
export function isBehind({ sent, verified }: Traffic): boolean {
  return sent - verified >= LEAST_BEHIND && verified < sent / 2;
}

/** Whether a network has used much of a day's budget. A ring with its own phones verifies as many codes as it needs. */
export function hasHadMuch({ sent }: Traffic, budget: number): boolean {
  return budget > 0 && sent >= Math.max(MUCH.least, MUCH.share * budget);
}

/** Whether enough people verify codes in a region. All other regions are also judged together. */
export function isProven({ day }: RegionTraffic): boolean {
  return day.sent >= PROVEN.sent && day.verified >= PROVEN.share * day.sent;
}

/** Like `isProven`, but in SQL, for a row with day_sent and day_verified. */
export const PROVEN_ROW = `day_sent >= ${PROVEN.sent} AND day_verified >= ${PROVEN.share} * day_sent`;
