import type { RegionTraffic, Traffic } from './sms-traffic-repository';

export interface Alarm extends Traffic {
  window: 'hour' | 'day';
  /** The share of codes that was verified in the past. */
  usual: number;
}

/** Fewer codes than these prove nothing. */
const LEAST = { hour: 20, day: 60, past: 100 };
/** For a region without a past. */
const ASSUMED = 0.5;
/** Lower bound for `usual`, so that a long attack cannot become its own baseline. */
const LEAST_USUAL = 0.2;
/** Far below the worst honest day. Of the codes that fraud asks for, almost none is verified. */
const ALARMING = 0.25;

/** Toll fraud shows in codes that are never verified: their share falls far below the region's own past. */
export function alarmOf({ hour, day, past }: RegionTraffic): Alarm | undefined {
  const usual = past.sent >= LEAST.past ? Math.max(past.verified / past.sent, LEAST_USUAL) : ASSUMED;
  const isAlarming = ({ sent, verified }: Traffic, least: number) =>
    sent >= least && verified / sent < ALARMING * usual;
  if (isAlarming(hour, LEAST.hour)) return { window: 'hour', usual, ...hour };
  if (isAlarming(day, LEAST.day)) return { window: 'day', usual, ...day };
  return undefined;
}
