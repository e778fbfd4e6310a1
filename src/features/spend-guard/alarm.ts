/** Codes sent, and how many of these were verified. */
export interface Traffic {
  sent: number;
  verified: number;
}

export interface RegionTraffic {
  hour: Traffic;
  day: Traffic;
  /** The fortnight before the day. */
  past: Traffic;
  /** Codes in a quarter of an hour of the past, of those in which there were any. */
  usualQuarter: number;
  /** Codes that were sent just now: neither verified nor judged. */
  open: number;
}

/** Far fewer codes than usual were verified. */
export interface ShareAlarm extends Traffic {
  window: 'hour' | 'day';
  /** The share of codes that was verified in the past. */
  usual: number;
}

/** More codes than ever are under way at once. */
export interface BurstAlarm {
  window: 'quarter hour';
  open: number;
  most: number;
}

/** One network asked for many codes, of which hardly any was verified. */
export interface NetworkAlarm extends Traffic {
  window: 'network';
}

export type Alarm = ShareAlarm | BurstAlarm | NetworkAlarm;

/** Fewer codes in the past are none. */
const LEAST_PAST = 100;
/** Fewer codes than these prove nothing. */
const LEAST = { hour: 20, day: 60 };
/** Of a region without a past less is needed: hardly anybody there waits for a code. */
const LEAST_IN_NEW = { hour: 12, day: 36 };
/** For a region without a past. */
const ASSUMED = 0.5;
/** Lower bound for `usual`, so that a long attack cannot become its own baseline. */
const LEAST_USUAL = 0.2;
/** Far below the worst honest day. Of the codes that fraud asks for, almost none is verified. */
const ALARMING = 0.25;
/** Of its codes of the day, a region that is judged for itself alone has so many, and such a share is verified. */
const PROVEN = { sent: 20, share: 0.25 };
/** So many codes of one region count where regions are judged together: an attack on one does not close the others. */
export const SHARE_OF_ONE = { hour: 5, day: 10 };
/** Codes under way may be so many times what is usual. */
const GROWTH = 3;
const QUARTERS_AN_HOUR = 4;

/** Codes that may be under way where there is no past. */
export const FLOOR = { region: 50, together: 150 };

/** Open codes with which a network that verifies less than half of its codes counts as one behind an alarm. */
const LEAST_BEHIND = 3;

/** Share of the day's budget with which a network has had much of it. Fewer codes than `least` are not much. */
const MUCH = { share: 0.05, least: 20 };

type Judged = Pick<RegionTraffic, 'hour' | 'day' | 'past'>;

/** Toll fraud shows in codes that are never verified: their share falls far below the region's own past. */
export function alarmOf({ hour, day, past }: Judged): ShareAlarm | undefined {
  if (past.sent < LEAST_PAST) return alarmBy(ASSUMED, LEAST_IN_NEW, { hour, day });
  return alarmBy(Math.max(past.verified / past.sent, LEAST_USUAL), LEAST, { hour, day });
}

/** The same for regions that are judged together, whose pasts differ. */
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

/**
 * A burst is over before any of its codes can be judged, so that codes that are neither verified nor judged are capped.
 */
export function burstOf(traffic: RegionTraffic, ahead: number, floor: number): BurstAlarm | undefined {
  const most = mostOpen(traffic, floor);
  const open = traffic.open + ahead;
  return open >= most ? { window: 'quarter hour', open, most } : undefined;
}

/** What counts as usual is the region's past, or what people really verified in the last hour, so that a launch may grow. */
export function mostOpen({ usualQuarter, hour }: RegionTraffic, floor: number): number {
  return Math.max(floor, Math.ceil(GROWTH * Math.max(usualQuarter, hour.verified / QUARTERS_AN_HOUR)));
}

/** A network is judged by the day alone, by what is assumed of regions. Codes under way count: people verify theirs soon. */
export function alarmOfNetwork({ sent, verified }: Traffic): NetworkAlarm | undefined {
  const isAlarming = sent >= LEAST.hour && verified / sent < ALARMING * ASSUMED;
  return isAlarming ? { window: 'network', sent, verified } : undefined;
}

/** Whether a network may be behind an alarm. It is refused first. */
export function isBehind({ sent, verified }: Traffic): boolean {
  return sent - verified >= LEAST_BEHIND && verified < sent / 2;
}

/** Whether a network has had much of a day's budget. A ring with phones of its own verifies as many codes as it has to. */
export function hasHadMuch({ sent }: Traffic, budget: number): boolean {
  return budget > 0 && sent >= Math.max(MUCH.least, MUCH.share * budget);
}

/** Whether enough people verify codes there; all other regions are judged together too. */
export function isProven({ day }: RegionTraffic): boolean {
  return day.sent >= PROVEN.sent && day.verified >= PROVEN.share * day.sent;
}

/** The same in SQL, of a row with day_sent and day_verified. */
export const PROVEN_ROW = `day_sent >= ${PROVEN.sent} AND day_verified >= ${PROVEN.share} * day_sent`;
