export interface NewCaptcha {
  /** Id that is sent back with the answer. */
  verifyId: string;
  /** Path, on this service, of what a client shows. */
  path: string;
}

/**
 * `away`: the provider does not answer anyone. `unchecked`: this answer could not be checked now, for a reason that the
 * caller may have caused.
 */
export type Verdict = 'right' | 'wrong' | 'away' | 'unchecked';

/** Limits that a right answer raises. */
export type VouchedFor = 'phone' | 'phone and address';

/** Captchas, which tell people from programs. */
export interface Captchas {
  readonly vouchesFor: VouchedFor;
  /** Whether a solved captcha goes first in an alarm of the spend guard: programs do not solve it for nothing. */
  readonly goFirst: boolean;
  /** Whether a check calls an external service. */
  readonly checkedOutside: boolean;
  create(address: string): Promise<NewCaptcha>;
  /** Checks an answer. Each captcha has one try. */
  check(verifyId: string, answer: string, address: string): Promise<Verdict>;
  /** Returns whether captchas cannot be solved at the moment. */
  areAway(): Promise<boolean>;
}
