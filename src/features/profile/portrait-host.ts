/**
 * False also for an address that other programs could read as one of another host: with a user's name in it, or without
 * the host right after the two slashes.
 */
export function isOnOneOf(hosts: string[], address: string): boolean {
  const { protocol, host } = new URL(address);
  const start = `${protocol}//${host}`;
  const rest = address.slice(start.length);
  return hosts.includes(host) && address.toLowerCase().startsWith(start) && /^([/?#]|$)/.test(rest);
}
