import type { Caller } from '../../base/caller';
import { maskedAddress } from '../../base/networks';
import type { SecurityEventsRepository } from '../audit/security-events-repository';

/**
 * Tells new devices from known ones by the audit trail: by the network and the user agent of earlier logins, and of the
 * registration. A better sign, such as a cookie of the device, belongs in here.
 */
export class KnownDevices {
  constructor(private readonly events: Pick<SecurityEventsRepository, 'loginsBefore'>) {}

  /** Of a login that the trail has noted. */
  async isNew(userId: string, { ip, userAgent, requestId }: Caller): Promise<boolean> {
    const earlier = await this.events.loginsBefore(userId, requestId);
    const network = maskedAddress(ip);
    const isNetworkKnown = earlier.some((login) => maskedAddress(login.ip) === network);
    return !isNetworkKnown || !earlier.some((login) => login.userAgent === userAgent);
  }
}
