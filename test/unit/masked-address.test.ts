import { aroundOf, maskedAddress, wideNetworkOf } from '../../src/base/networks';

describe('maskedAddress', () => {
  it.each([
    ['203.0.113.77', '203.0.113.0/24'],
    ['127.0.0.1', '127.0.0.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['2001:DB8:0001::9', '2001:db8:1::/48'],
    ['2001:db8::9', '2001:db8:0::/48'],
    ['1::3:4:5:6:7:8', '1:0:3::/48'],
    ['::1', '0:0:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0::/48'],
    ['', 'unknown'],
    ['nonsense', 'unknown'],
  ])('shows %s as %s', (ip, masked) => expect(maskedAddress(ip)).toBe(masked));
});

describe('aroundOf', () => {
  it.each([
    ['2001:db8:12ab::1', ['2001:db8:12__::/48']],
    ['2001:db8:1ab::1', ['2001:db8:1__::/48']],
    ['2001:db8:ab::1', ['2001:db8:_::/48', '2001:db8:__::/48']],
    ['2001:db8::1', ['2001:db8:_::/48', '2001:db8:__::/48']],
  ])('finds the /40 of %s by %j', (ip, near) =>
    expect(aroundOf(ip)).toEqual({ from: '2001:db8:', below: '2001:db8;', near }),
  );

  it('has nothing for IPv4', () => expect(aroundOf('203.0.113.77')).toBeUndefined());
});

describe('wideNetworkOf', () => {
  it.each([
    ['203.0.113.77', '203.0.0.0/16'],
    ['2001:DB8:0001::9', '2001:db8::/32'],
    ['nonsense', 'unknown'],
  ])('shows %s as %s', (ip, wide) => expect(wideNetworkOf(ip)).toBe(wide));
});
