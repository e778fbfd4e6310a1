import type { Caller } from '../../base/caller';
import { maskedAddress } from '../../base/networks';
import type { SecurityEventsRepository } from '../audit/security-events-repository';

/**
 * Returns whether the device of a login is new, by the audit trail: by network and user agent of the registration and of
 * earlier logins. The trail must already have the login. A better sign, such as a device cookie, belongs here.
 */
export async function isNewDevice(
  events: Pick<SecurityEventsRepository, 'loginsBefore'>,
  userId: string,
  { ip, userAgent, requestId }: Caller,
): Promise<boolean> {
  const earlier = await events.loginsBefore(userId, requestId);
  const network = maskedAddress(ip);
  const isNetworkKnown = earlier.some((login) => maskedAddress(login.ip) === network);
  return !isNetworkKnown || !earlier.some((login) => login.userAgent === userAgent);
}
