import type { RegionTraffic, Traffic } from './sms-traffic-repository';

export interface Alarm extends Traffic {
  window: 'hour' | 'day';
  /** The share of codes that was verified in the past. */
  usual: number;
}

/** Fewer than these tell nothing. */
const LEAST = { hour: 20, day: 60, past: 100 };
/** For a region without a past. */
const ASSUMED = 0.5;
/** However bad the past: otherwise an attack that has lasted for a day would be what is usual. */
const LEAST_USUAL = 0.2;
/** Far below anybody's bad day; of codes that are only asked for to be paid, next to none is verified. */
const ALARMING = 0.25;

/** Toll fraud shows in codes that nobody types in: the share of verified ones falls far below the region's own past. */
export function alarmOf({ hour, day, past }: RegionTraffic): Alarm | undefined {
  const usual = past.sent >= LEAST.past ? Math.max(past.verified / past.sent, LEAST_USUAL) : ASSUMED;
  const isAlarming = ({ sent, verified }: Traffic, least: number) =>
    sent >= least && verified / sent < ALARMING * usual;
  if (isAlarming(hour, LEAST.hour)) return { window: 'hour', usual, ...hour };
  if (isAlarming(day, LEAST.day)) return { window: 'day', usual, ...day };
  return undefined;
}
