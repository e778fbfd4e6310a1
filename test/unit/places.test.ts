import { Unavailable } from '../../src/errors';
import { Places } from '../../src/integrations/storage/places';

const ATTACKER = '203.0.113.66';
const HOME = '198.51.100.9';
const NETWORK = (index: number) => `2001:db8:0:${index.toString(16)}::/64`;

describe('Places', () => {
  /** Who has given way, in the order in which they did. */
  let gone: string[] = [];
  beforeEach(() => {
    gone = [];
  });

  const taker = (places: Places) => (who: string) => places.take(who, () => gone.push(who));

  it('are a few of each address, and a place that was given back is free', () => {
    const take = taker(new Places(2, 10));
    const [leave] = [take(ATTACKER), take(ATTACKER)];
    expect(() => take(ATTACKER)).toThrow(Unavailable);
    take(HOME);
    leave?.();
    leave?.();
    take(ATTACKER);
    expect(() => take(ATTACKER)).toThrow(Unavailable);
    expect(gone).toEqual([]);
  });

  it.each([
    ['/56', (index: number) => NETWORK(index)],
    ['/48', (index: number) => NETWORK(index << 8)],
  ])('are no more than twice as many of a %s of IPv6, whatever its addresses', (_network, address) => {
    const take = taker(new Places(4, 100));
    for (let index = 0; index < 8; index += 1) take(address(index));
    expect(() => take(address(8))).toThrow(Unavailable);
    take('2001:db8:1::/64');
    take(HOME);
  });

  it('are given up for a newcomer by whoever has most of them, the newest first', () => {
    const take = taker(new Places(4, 10));
    for (const who of ['ann', 'ann', 'bob', 'bob', 'bob', 'bob', 'ann', 'cat', 'cat', 'dan']) take(who);
    for (let count = 0; count < 2; count += 1) take(HOME);
    expect(gone).toEqual(['bob', 'ann']);
    // Nobody has more than a third one would make.
    expect(() => take(HOME)).toThrow(Unavailable);
    take('eve');
    expect(gone).toEqual(['bob', 'ann', 'bob']);
  });

  it('count a /48 of IPv6 as one when one of them is to be given up', () => {
    const take = taker(new Places(4, 8));
    for (let index = 0; index < 5; index += 1) take(NETWORK(index));
    for (let count = 0; count < 3; count += 1) take(ATTACKER);
    take(HOME);
    expect(gone).toEqual([NETWORK(4)]);
  });

  it('are not given up by work that cannot be broken off', () => {
    const places = new Places(4, 6);
    const take = taker(places);
    for (let count = 0; count < 4; count += 1) places.take('ann');
    for (let count = 0; count < 2; count += 1) take('bob');
    take(HOME);
    expect(gone).toEqual(['bob']);
    expect(() => take(HOME)).toThrow(Unavailable);
  });

  it('that were given up are not given back twice', () => {
    const take = taker(new Places(3, 3));
    const leaves = [take(ATTACKER), take(ATTACKER), take(ATTACKER)];
    take(HOME);
    leaves[2]?.();
    expect(() => [take('bob'), take('cat')]).toThrow(Unavailable);
    expect(gone).toEqual([ATTACKER, ATTACKER]);
  });
});
