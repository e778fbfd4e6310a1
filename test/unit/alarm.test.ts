import { alarmOf, alarmOfAll, burstOf, FLOOR, isProven } from '../../src/features/spend-guard/alarm';

const none = { sent: 0, verified: 0 };
const traffic = (sent: number, verified: number) => ({ sent, verified });

describe('the alarm of the spend guard for one calling code', () => {
  it.each([
    ['nothing was sent', none, none, none],
    ['too few were sent in the hour to tell', traffic(19, 0), traffic(19, 0), traffic(1_000, 800)],
    ['the hour is as ever', traffic(100, 78), traffic(1_000, 790), traffic(10_000, 8_000)],
    ['the hour is bad, within what hours vary', traffic(100, 30), traffic(1_000, 700), traffic(10_000, 8_000)],
    ['few are verified, and it has always been so', traffic(100, 12), traffic(1_000, 120), traffic(10_000, 1_200)],
    ['there is no history, and too few were sent to tell', traffic(11, 0), traffic(35, 4), none],
    ['there is no history, and half are verified', traffic(100, 50), traffic(100, 50), none],
    [
      'the history is too short to tell, and its ratio cannot be compared',
      traffic(30, 8),
      traffic(59, 15),
      traffic(99, 99),
    ],
  ])('does not go off when %s', (_name, hour, day, past) => {
    expect(alarmOf({ hour, day, past })).toBeUndefined();
  });

  // guard alarm-1: the spend guard does not learn an attack as usual
  // src/features/spend-guard/alarm.ts
  // - Math.max(past.verified / past.sent, LEAST_USUAL)
  // + past.verified / past.sent
  it.each([
    ['hour', 'the hour falls far below its history', traffic(100, 10), traffic(1_000, 700), traffic(10_000, 8_000)],
    ['hour', 'no code is verified and there is no history', traffic(12, 0), traffic(12, 0), none],
    ['day', 'hardly any code is verified and there is no history', traffic(5, 0), traffic(36, 4), none],
    ['hour', 'a poor rate gets far poorer', traffic(200, 5), traffic(400, 40), traffic(10_000, 1_200)],
    ['hour', 'an attack of days has become the history', traffic(200, 1), traffic(4_800, 20), traffic(60_000, 300)],
    ['hour', 'no code was ever verified', traffic(200, 0), traffic(4_800, 0), traffic(10_000, 0)],
    ['day', 'an attack goes on slowly for a day', traffic(5, 0), traffic(60, 2), traffic(10_000, 8_000)],
    ['day', 'the hour looks better than the day', traffic(30, 15), traffic(500, 20), traffic(10_000, 8_000)],
  ])('goes off by the %s when %s', (window, _name, hour, day, past) => {
    expect(alarmOf({ hour, day, past })?.window).toBe(window);
  });
});

describe('the spend guard judging all calling codes together', () => {
  it('assumes a usual rate, and needs at least as many codes as for a known calling code', () => {
    expect(alarmOfAll({ hour: traffic(19, 0), day: traffic(59, 0) })).toBeUndefined();
    expect(alarmOfAll({ hour: traffic(20, 2), day: traffic(20, 2) })).toMatchObject({ window: 'hour', usual: 0.5 });
    expect(alarmOfAll({ hour: none, day: traffic(60, 7) })).toMatchObject({ window: 'day' });
  });

  it.each([
    [traffic(20, 5), true],
    [traffic(19, 19), false],
    [traffic(20, 4), false],
    [none, false],
  ])('counts a calling code with %j in its day as proven: %s', (day, proven) => {
    expect(isProven({ hour: none, day, past: none, usualQuarter: 0, open: 0 })).toBe(proven);
  });
});

describe('the cap of the spend guard on pending codes', () => {
  const withOpen = (open: number, usualQuarter = 0, hour = none) =>
    ({ hour, day: hour, past: none, usualQuarter, open }) as const;

  it('is a floor where there is no history, and counts codes that are being sent right now', () => {
    expect(burstOf(withOpen(49), 0, FLOOR.region)).toBeUndefined();
    expect(burstOf(withOpen(50), 0, FLOOR.region)).toEqual({ window: 'quarter hour', open: 50, most: 50 });
    expect(burstOf(withOpen(40), 9, FLOOR.region)).toBeUndefined();
    expect(burstOf(withOpen(40), 10, FLOOR.region)).toMatchObject({ open: 50 });
  });

  it('is three times the usual quarter of an hour', () => {
    expect(burstOf(withOpen(299, 100), 0, FLOOR.region)).toBeUndefined();
    expect(burstOf(withOpen(300, 100), 0, FLOOR.region)).toMatchObject({ most: 300 });
  });

  it('grows with a launch, by what was verified in the hour before', () => {
    expect(burstOf(withOpen(299, 0, traffic(500, 400)), 0, FLOOR.region)).toBeUndefined();
    expect(burstOf(withOpen(300, 0, traffic(500, 400)), 0, FLOOR.region)).toMatchObject({ most: 300 });
  });
});
