import { addressOf, networksOf } from '../../src/base/networks';
import { ipFrom } from '../../src/http/client-address';

const of = (ip: string | undefined, socket?: string) => addressOf(ipFrom(ip, socket));

describe('addressOf', () => {
  it.each([
    ['203.0.113.1', '203.0.113.1'],
    ['::ffff:203.0.113.1', '203.0.113.1'],
    ['::FFFF:203.0.113.1', '203.0.113.1'],
    ['127.0.0.1', '127.0.0.1'],
    ['203.0.113.1:51234', '203.0.113.1'],
    ['[::ffff:203.0.113.1]:443', '203.0.113.1'],
    ['::ffff:cb00:7101', '203.0.113.1'],
    ['0:0:0:0:0:ffff:203.0.113.1', '203.0.113.1'],
    ['0000:0000:0000:0000:0000:ffff:cb00:7101', '203.0.113.1'],
    ['::0:ffff:203.0.113.1', '203.0.113.1'],
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
    ['[2001:db8:1:2::6]', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::6]:51234', '2001:db8:1:2::/64'],
    ['[fe80::1%eth0]:80', 'fe80:0:0:0::/64'],
    ['::ffff:0:203.0.113.1', '0:0:0:0::/64'],
    ['64:ff9b::203.0.113.1', '64:ff9b:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
  ])('is the /64 of an IPv6 address: %s is %s', (ip, address) => {
    expect(of(ip)).toBe(address);
  });

  const NONE = [undefined, '', 'unknown', '999.1.1.1', '1.2.3.4:', '[1.2.3.4', 'x'.repeat(10_000)];

  it.each([...NONE, `::1%${'x'.repeat(12_000)}`])(
    'is the address of the proxy where the proxy gives none: %.20s',
    (ip) => {
      expect(of(ip, '::ffff:10.0.0.7')).toBe('10.0.0.7');
      expect(ipFrom(ip, '10.0.0.7')).toBe('10.0.0.7');
    },
  );

  it('is unknown when the connection is gone', () => {
    expect(of(undefined)).toBe('unknown');
  });

  it('keeps only an address, however long the header was', () => {
    expect(ipFrom(`fe80::1%${'x'.repeat(80)}`, undefined)).toBe('fe80::1');
  });
});

describe('networksOf', () => {
  it('gives the wider networks of an IPv6 /64: its /56 and its /48, with more room', () => {
    expect(networksOf('2001:db8:1:2ff::/64')).toEqual([
      { network: '2001:db8:1:2ff::/64', times: 1 },
      { network: '2001:db8:1:200::/56', times: 4 },
      { network: '2001:db8:1:0::/48', times: 16 },
    ]);
  });

  it.each(['203.0.113.1', 'unknown'])('gives no wider network for %s', (address) => {
    expect(networksOf(address)).toEqual([{ network: address, times: 1 }]);
  });
});
