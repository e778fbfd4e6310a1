import type { Caller } from '../../base/caller';
import { maskedAddress } from '../../base/networks';
import type { SecurityEventsRepository } from '../audit/security-events-repository';

/**
 * Tells new devices from known ones by the audit trail: by network and user agent of the registration and of earlier
 * logins. A better sign, such as a device cookie, belongs here.
 */
export class KnownDevices {
  constructor(private readonly events: Pick<SecurityEventsRepository, 'loginsBefore'>) {}

  /** Whether the device of a login is new. The trail must already have the login. */
  async isNew(userId: string, { ip, userAgent, requestId }: Caller): Promise<boolean> {
    const earlier = await this.events.loginsBefore(userId, requestId);
    const network = maskedAddress(ip);
    const isNetworkKnown = earlier.some((login) => maskedAddress(login.ip) === network);
    return !isNetworkKnown || !earlier.some((login) => login.userAgent === userAgent);
  }
}
