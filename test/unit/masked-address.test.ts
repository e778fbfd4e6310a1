import { maskedAddress } from '../../src/base/networks';

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
