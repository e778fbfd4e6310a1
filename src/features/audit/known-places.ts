import type { Caller } from '../../base/caller';
import { addressOf } from '../../base/networks';
import { withTimeout } from '../../load/timeout';
import type { SecurityEventsRepository, UsedPlaces } from './security-events-repository';

/** Where a request about a phone comes from: a place that its account was used from, elsewhere, or there is no account. */
export type Standing = 'known' | 'elsewhere' | 'no account';

/** What a signed device cookie says. */
export interface SignedInDevice {
  userId: string;
  credentialsVersion: number;
}

/** Longest wait of a request for the trail. */
const ANSWER_MS = 1_000;

/**
 * Tells places that an account was used from before: the addresses of its logins, by the audit trail, and devices, by
 * their cookie. A new password or phone forgets all places but its own: what a thief has used counts no longer, and
 * nor does what the last holder of a recycled number has used.
 */
export class KnownPlaces {
  /** Many requests about one phone at once ask the database once. */
  private readonly underWay = new Map<string, Promise<UsedPlaces | undefined>>();

  constructor(private readonly events: Pick<SecurityEventsRepository, 'usedPlaces'>) {}

  /** While the trail cannot be read, all callers are elsewhere: nothing is refused for that. */
  async standingOf(phone: string, { address }: Caller, device?: SignedInDevice): Promise<Standing> {
    let used: UsedPlaces | undefined;
    try {
      used = await withTimeout(this.placesOf(phone), ANSWER_MS);
    } catch {
      return 'elsewhere';
    }
    if (!used) return 'no account';
    const isKnownDevice = device?.userId === used.userId && device.credentialsVersion === used.credentialsVersion;
    return isKnownDevice || used.ips.map(addressOf).includes(address) ? 'known' : 'elsewhere';
  }

  private placesOf(phone: string): Promise<UsedPlaces | undefined> {
    const asked = this.underWay.get(phone);
    if (asked) return asked;
    const asking = this.events.usedPlaces(phone).finally(() => this.underWay.delete(phone));
    this.underWay.set(phone, asking);
    return asking;
  }
}
