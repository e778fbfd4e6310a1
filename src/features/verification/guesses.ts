import type { Caller } from '../../base/caller';
import type { Trust } from '../audit/known-places';
import type { LimitUse } from '../limits/limiter';

/** Maximum attempts at a code: of the address that asked for it, and of all other addresses together. */
export interface MaxAttempts {
  asker: number;
  others: number;
}

/** Share of the others' attempts for unknown places. Two of five are kept for places where the account was used. */
const SHARE_FROM_ELSEWHERE = 0.6;

export function attemptsFrom(trust: Trust, asker: number): MaxAttempts {
  return { asker, others: trust === 'elsewhere' ? Math.ceil(SHARE_FROM_ELSEWHERE * asker) : asker };
}

/** Returns the limits of a guess at a phone's code: per phone and address, and per phone. */
export function guessesAt(phone: string, { address }: Caller, trust: Trust): LimitUse[] {
  return [
    { limit: 'wrongCodesPerPhoneAndAddress', subject: `${phone} ${address}` },
    { limit: trust === 'elsewhere' ? 'wrongCodesPerPhoneElsewhere' : 'wrongCodesPerPhone', subject: phone },
  ];
}
