import type { Request } from 'express';
import { addressOf } from '../../src/http/client-address';

const of = (ip: string | undefined) => addressOf({ ip } as Request);

describe('addressOf', () => {
  it.each([
    ['203.0.113.1', '203.0.113.1'],
    ['::ffff:203.0.113.1', '203.0.113.1'],
    ['::FFFF:203.0.113.1', '203.0.113.1'],
    ['127.0.0.1', '127.0.0.1'],
  ])('is the IPv4 address: %s is %s', (ip, address) => {
    expect(of(ip)).toBe(address);
  });

  it.each([
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:1::', '2001:db8:0:0::/64'],
    ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
  ])('is the /64 of an IPv6 address: %s is %s', (ip, address) => {
    expect(of(ip)).toBe(address);
  });

  it.each([undefined, '', 'unknown', '999.1.1.1', 'x'.repeat(10_000)])(
    'is one for all that is no address: %.20s',
    (ip) => {
      expect(of(ip)).toBe('unknown');
    },
  );
});
