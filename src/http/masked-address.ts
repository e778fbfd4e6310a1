import { isIPv4, isIPv6 } from 'node:net';

/** For the log: the /24 of an IPv4 address, the /48 of an IPv6 address. It shows whence an attack comes, not who calls. */
export function maskedAddress(ip: string): string {
  if (isIPv4(ip)) return ip.replace(/\d+$/, '0/24');
  return isIPv6(ip) ? `${network48(ip)}::/48` : 'unknown';
}

function network48(ip: string): string {
  const [head = '', tail = ''] = ip.replace(/%.*$/, '').split('::');
  const left = head.split(':').filter(Boolean);
  const right = tail.split(':').filter(Boolean);
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  const groups = [...left, ...zeros, ...right].slice(0, 3);
  return groups.map((group) => parseInt(group, 16).toString(16)).join(':');
}
