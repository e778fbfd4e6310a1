import type { Caller } from '../../base/caller';
import type { Standing } from '../audit/known-places';
import type { LimitUse } from '../limits/limiter';

/** Attempts at a code: those of the address that asked for it, and how many of those that all others share. */
export interface MaxAttempts {
  asker: number;
  others: number;
}

/** The rest of the attempts that others share is kept for places where the account was used: two of five. */
const SHARE_FROM_ELSEWHERE = 0.6;

export function attemptsFrom(standing: Standing, asker: number): MaxAttempts {
  return { asker, others: standing === 'elsewhere' ? Math.ceil(SHARE_FROM_ELSEWHERE * asker) : asker };
}

/** A guess at a phone's code: counted for the phone and this address, and for the phone. */
export function guessesAt(phone: string, { address }: Caller, standing: Standing): LimitUse[] {
  return [
    { limit: 'wrongCodesPerPhoneAndAddress', subject: `${phone} ${address}` },
    { limit: standing === 'elsewhere' ? 'wrongCodesPerPhoneElsewhere' : 'wrongCodesPerPhone', subject: phone },
  ];
}
