import { isIPv4, isIPv6 } from 'node:net';
import type { Request } from 'express';

/**
 * For limits by address: an IPv4 address, or the /64 of an IPv6 address, since one customer has a whole /64. Express
 * finds the address by TRUST_PROXY.
 */
export function addressOf(req: Request): string {
  const address = ipOf(req);
  if (isIPv4(address)) return address;
  return isIPv6(address) ? network64(address) : 'unknown';
}

/** An IPv4 address that arrives on an IPv6 socket is shown as IPv4. */
export function ipOf(req: Request): string {
  return (req.ip ?? '').replace(/^::ffff:(?=\d+\.)/i, '');
}

function network64(address: string): string {
  const [head = '', tail = ''] = address.replace(/%.*$/, '').split('::');
  const left = head.split(':').filter(Boolean);
  const right = tail.split(':').filter(Boolean);
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  const groups = [...left, ...zeros, ...right].slice(0, 4).map((group) => parseInt(group, 16).toString(16));
  return `${groups.join(':')}::/64`;
}
