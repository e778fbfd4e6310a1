import { BadRequest } from '../../base/errors';
import { isPrivate } from '../../base/networks';

/** Allowed hosts of portraits. */
export interface PortraitRules {
  /** Allowed hosts. Empty: any host. */
  hosts: string[];
  /** Whether private addresses are refused: clients that show the portrait would request them in their own network. */
  publicOnly: boolean;
}

/** Whether a URL's host, as the URL parser spells it, is a literal loopback, private or link-local address. */
export function isPrivateHost(hostname: string): boolean {
  if (/(^|\.)localhost\.?$/.test(hostname)) return true;
  return isPrivate(hostname.replace(/^\[|\]$/g, ''));
}

/** Refuses a portrait on a host that is not allowed. An empty address removes the portrait, and is allowed. */
export function checkPortraitHost({ hosts, publicOnly }: PortraitRules, portraitUri: string | undefined): void {
  if (!portraitUri || (hosts.length > 0 && isOnOneOf(hosts, portraitUri))) return;
  if (hosts.length > 0) throw notAllowed(`must be on ${hosts.join(' or ')}`);
  if (publicOnly && isPrivateHost(new URL(portraitUri).hostname))
    throw notAllowed('must not be on a loopback, private or link-local address');
}

/**
 * Returns false also for an address that other programs could read as one of another host: with a user name in it, or
 * without the host right after the two slashes.
 */
function isOnOneOf(hosts: string[], address: string): boolean {
  const { protocol, host } = new URL(address);
  const start = `${protocol}//${host}`;
  const rest = address.slice(start.length);
  return hosts.includes(host) && address.toLowerCase().startsWith(start) && /^([/?#]|$)/.test(rest);
}

function notAllowed(message: string): BadRequest {
  const problem = { path: 'portraitUri', message };
  return new BadRequest('portrait_host_not_allowed', `${problem.path}: ${message}`, { details: [problem] });
}
