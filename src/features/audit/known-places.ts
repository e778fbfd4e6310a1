import type { Caller } from '../../base/caller';
import { addressOf } from '../../base/networks';
import { SharedCalls } from '../../load/shared-calls';
import { withTimeout } from '../../load/timeout';
import type { SecurityEventsRepository, UsedAddresses } from './security-events-repository';

/** Trust in a request about a phone: from a place where its account was used, from elsewhere, or without an account. */
export type Trust = 'known' | 'elsewhere' | 'no account';

/** Content of a signed device cookie. */
export interface SignedInDevice {
  userId: string;
  credentialsVersion: number;
}

/** Longest time that a request waits for the trail. */
const ANSWER_MS = 1_000;

/**
 * Recognises places where an account was used before: addresses of its logins by the audit trail, and devices by their
 * cookie. A new password or phone forgets all earlier places, and so can an operator. Then places of a thief, or of the
 * last holder of a recycled number, no longer count.
 */
export class KnownPlaces {
  /** Simultaneous requests about one phone share one query. */
  private readonly asked = new SharedCalls<UsedAddresses | undefined>();

  constructor(
    private readonly events: Pick<SecurityEventsRepository, 'usedAddresses' | 'hasPresentCredentials'>,
    private readonly patience = 1,
  ) {}

  /** Returns `elsewhere` for all callers while the trail cannot be read: that refuses nothing by itself. */
  async trustOf(phone: string, { address }: Caller, device?: SignedInDevice): Promise<Trust> {
    try {
      return await withTimeout(this.find(phone, address, device), this.patience * ANSWER_MS);
    } catch {
      return 'elsewhere';
    }
  }

  private async find(phone: string, address: string, device?: SignedInDevice): Promise<Trust> {
    const used = await this.asked.run(phone, () => this.events.usedAddresses(phone));
    if (!used) return 'no account';
    if (used.ips.map(addressOf).includes(address)) return 'known';
    if (device?.userId !== used.userId) return 'elsewhere';
    const isCurrent = await this.events.hasPresentCredentials(used.userId, device.credentialsVersion);
    return isCurrent ? 'known' : 'elsewhere';
  }
}
