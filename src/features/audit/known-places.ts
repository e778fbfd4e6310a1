import type { Caller } from '../../caller';
import { addressOf } from '../../http/client-address';
import type { SecurityEventsRepository } from './security-events-repository';

/** Where a request about a phone comes from: a place that its account was used from, elsewhere, or there is no account. */
export type Standing = 'known' | 'elsewhere' | 'no account';

/** What a signed device cookie says. */
export interface SignedInDevice {
  userId: string;
  credentialsVersion: number;
}

/**
 * Tells places that an account was used from before: the addresses of its logins, by the audit trail, and devices, by
 * their cookie. A new password or phone forgets all places but its own: what a thief has used counts no longer, and
 * nor does what the last holder of a recycled number has used.
 */
export class KnownPlaces {
  constructor(private readonly events: Pick<SecurityEventsRepository, 'usedPlaces'>) {}

  async standingOf(phone: string, { address }: Caller, device?: SignedInDevice): Promise<Standing> {
    const used = await this.events.usedPlaces(phone);
    if (!used) return 'no account';
    const isKnownDevice = device?.userId === used.userId && device.credentialsVersion === used.credentialsVersion;
    return isKnownDevice || used.ips.map(addressOf).includes(address) ? 'known' : 'elsewhere';
  }
}
