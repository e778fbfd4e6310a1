import { alarmOf } from '../../src/features/spend-guard/alarm';

const none = { sent: 0, verified: 0 };
const traffic = (sent: number, verified: number) => ({ sent, verified });

describe('the spend guard compares a calling code with its own past', () => {
  it.each([
    ['nothing was sent', none, none, none],
    ['too few were sent in the hour to tell', traffic(19, 0), traffic(19, 0), traffic(1_000, 800)],
    ['the hour is as ever', traffic(100, 78), traffic(1_000, 790), traffic(10_000, 8_000)],
    ['the hour is bad, as hours are', traffic(100, 30), traffic(1_000, 700), traffic(10_000, 8_000)],
    ['few are verified, and it has always been so', traffic(100, 12), traffic(1_000, 120), traffic(10_000, 1_200)],
    ['there is no past, and half are verified', traffic(100, 50), traffic(100, 50), none],
    ['the past is too short to tell, and its ratio is no measure', traffic(30, 8), traffic(59, 15), traffic(99, 99)],
  ])('no alarm when %s', (_name, hour, day, past) => {
    expect(alarmOf({ hour, day, past })).toBeUndefined();
  });

  it.each([
    ['hour', 'the hour falls far below', traffic(100, 10), traffic(1_000, 700), traffic(10_000, 8_000)],
    ['hour', 'nobody verifies where there is no past', traffic(20, 0), traffic(20, 0), none],
    ['hour', 'a poor past gets far poorer', traffic(200, 5), traffic(400, 40), traffic(10_000, 1_200)],
    ['hour', 'an attack of days has become the past', traffic(200, 1), traffic(4_800, 20), traffic(60_000, 300)],
    ['hour', 'nobody has ever verified', traffic(200, 0), traffic(4_800, 0), traffic(10_000, 0)],
    ['day', 'it goes on slowly for a day', traffic(5, 0), traffic(60, 2), traffic(10_000, 8_000)],
    ['day', 'the hour looks better than the day', traffic(30, 15), traffic(500, 20), traffic(10_000, 8_000)],
  ])('an alarm by the %s when %s', (window, _name, hour, day, past) => {
    expect(alarmOf({ hour, day, past })?.window).toBe(window);
  });
});
