import { BadRequest } from '../../errors';

/**
 * False also for an address that other programs could read as one of another host: with a user's name in it, or without
 * the host right after the two slashes.
 */
function isOnOneOf(hosts: string[], address: string): boolean {
  const { protocol, host } = new URL(address);
  const start = `${protocol}//${host}`;
  const rest = address.slice(start.length);
  return hosts.includes(host) && address.toLowerCase().startsWith(start) && /^([/?#]|$)/.test(rest);
}

/** None is on no host; with no hosts, any will do. */
export function checkPortraitHost(hosts: string[], portraitUri: string | undefined): void {
  if (!portraitUri || hosts.length === 0) return;
  if (isOnOneOf(hosts, portraitUri)) return;
  const problem = { path: 'portraitUri', message: `must be on ${hosts.join(' or ')}` };
  throw new BadRequest('portrait_host_not_allowed', `${problem.path}: ${problem.message}`, { details: [problem] });
}
