import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Longer than any address with port and brackets. */
const LONGEST = 100;

/** An address or a network, and the factor by which its limits exceed those of an address. */
export interface Network {
  network: string;
  times: number;
}

export interface NetworkShare {
  network: string;
  most: number;
}

/** Maximum factor for shares, so that an IPv6 network with many addresses cannot take most of a queue. */
const MOST_TIMES = 2;

/** Networks that are not of the internet: loopback, private, link-local, shared, tunnels, tests, multicast, reserved. */
const NOT_PUBLIC = networkList(
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.88.99.0/24 ' +
    '192.168.0.0/16 198.18.0.0/15 224.0.0.0/4 240.0.0.0/4 ::/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23 ' +
    '2002::/16 fc00::/7 fe80::/9 ff00::/8',
);

/** Reads networks that are separated by spaces, such as 10.0.0.0/8. */
export function networkList(networks: string): BlockList {
  const list = new BlockList();
  for (const network of networks.split(' ').filter(Boolean)) {
    const [address = '', bits] = network.split('/');
    const kind = isIPv6(address) ? 'ipv6' : 'ipv4';
    list.addSubnet(address, Number(bits ?? (kind === 'ipv6' ? 128 : 32)), kind);
  }
  return list;
}

export function isIn(list: BlockList, address: string): boolean {
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Whether an address is not one of the internet. An IPv4-mapped IPv6 address counts as its IPv4 address. */
export function isPrivate(address: string): boolean {
  return isIn(NOT_PUBLIC, address);
}

/** Strips port, brackets and zone. Turns an IPv4-mapped IPv6 address, in any spelling, into the IPv4 address. */
export function plainAddress(given = ''): string | undefined {
  if (isIPv4(given)) return given;
  if (given.length > LONGEST) return undefined;
  const [, bracketed] = /^\[(.+)\](?::\d{1,5})?$/.exec(given) ?? [];
  const [, withPort] = /^([\d.]+):\d{1,5}$/.exec(given) ?? [];
  const address = (bracketed ?? withPort ?? given).replace(/%.*$/, '');
  if (isIPv4(address)) return address;
  return isIPv6(address) ? (mappedIPv4(groupsOf(address)) ?? address) : undefined;
}

/** Returns the key of limits per address: the IPv4 address, or the /64 of IPv6, since one customer has a whole /64. */
export function addressOf(ip: string): string {
  return isIPv6(ip) ? network(groupsOf(ip), 64) : ip;
}

/**
 * Returns the networks that limits count: the address itself and, for IPv6, its /56 and /48. One customer may have a
 * whole /56 or /48, which contains 256 or 65,536 networks of /64.
 */
export function networksOf(address: string): Network[] {
  const own = { network: address, times: 1 };
  if (!address.endsWith('::/64')) return [own];
  const groups = groupsOf(address.slice(0, -'/64'.length));
  return [own, { network: network(groups, 56), times: 4 }, { network: network(groups, 48), times: 16 }];
}

/** Returns the maximum for the address and for each of its networks, where one address may take `share`. */
export function sharesOf(address: string, share: number): NetworkShare[] {
  return networksOf(address).map(({ network, times }) => ({ network, most: Math.min(times, MOST_TIMES) * share }));
}

/** Returns the sender that takes turns: the IPv4 address, or the /48 of IPv6, the largest network of one customer. */
export function senderOf(address: string): string {
  return networksOf(address).at(-1)?.network ?? address;
}

/** Returns the /24 of IPv4 or the /48 of IPv6, for the log: shows where an attack comes from, not who calls. */
export function maskedAddress(ip: string): string {
  if (isIPv4(ip)) return ip.replace(/\d+$/, '0/24');
  return isIPv6(ip) ? `${hexOf(groupsOf(ip).slice(0, 3))}::/48` : 'unknown';
}

/** Returns the /16 of IPv4 or the /32 of IPv6, which is about what one provider has, or rents out, in one piece. */
export function wideNetworkOf(ip: string): string {
  if (isIPv4(ip)) return ip.replace(/\d+\.\d+$/, '0.0/16');
  return isIPv6(ip) ? `${hexOf(groupsOf(ip).slice(0, 2))}::/32` : 'unknown';
}

/** The networks around a /48 of IPv6, in terms of the text that `maskedAddress` returns. */
export interface Around {
  /** Range of texts of the /48s of its /32, the end excluded. */
  from: string;
  below: string;
  /** Patterns for LIKE of the /48s of its /40. */
  near: string[];
}

/** Returns the networks around an IPv6 address. One customer, or one attacker, may have a whole /32. */
export function aroundOf(ip: string): Around | undefined {
  if (!isIPv6(ip)) return undefined;
  const [high = 0, low = 0, third = 0] = groupsOf(ip);
  const wide = hexOf([high, low]);
  const first = third >> 8;
  // Groups are written without leading zeros.
  const near = first === 0 ? ['_', '__'] : [`${first.toString(16)}__`];
  return { from: `${wide}:`, below: `${wide};`, near: near.map((group) => `${wide}:${group}::/48`) };
}

function groupsOf(address: string): number[] {
  const hex = address
    .replace(/%.*$/, '')
    .replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_all, a, b, c, d) =>
      hexOf([256 * Number(a) + Number(b), 256 * Number(c) + Number(d)]),
    );
  const [head = '', tail = ''] = hex.split('::');
  const left = head.split(':').filter(Boolean);
  const right = tail.split(':').filter(Boolean);
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  return [...left, ...zeros, ...right].map((group) => parseInt(group, 16));
}

function mappedIPv4(groups: number[]): string | undefined {
  const [high = 0, low = 0] = groups.slice(6);
  if (groups.slice(0, 6).join() !== [0, 0, 0, 0, 0, 0xffff].join()) return undefined;
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

function network(groups: number[], bits: 48 | 56 | 64): string {
  const [a = 0, b = 0, c = 0, d = 0] = groups;
  return `${hexOf([a, b, c, { 48: 0, 56: d & 0xff00, 64: d }[bits]])}::/${bits}`;
}

function hexOf(groups: number[]): string {
  return groups.map((group) => group.toString(16)).join(':');
}
