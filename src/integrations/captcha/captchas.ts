export interface NewCaptcha {
  /** What the answer is sent back with. */
  verifyId: string;
  /** Of what a client shows, below the address of this service. */
  path: string;
}

/**
 * `away`: the provider does not answer anybody. `unchecked`: this answer could not be checked now, for a reason that a
 * caller may have brought about.
 */
export type Verdict = 'right' | 'wrong' | 'away' | 'unchecked';

/** What a right answer is worth: whose limits it raises. */
export type VouchedFor = 'phone' | 'phone and address';

/** Captchas, which tell people from programs. */
export interface Captchas {
  readonly vouchesFor: VouchedFor;
  /** Whether a check asks somebody outside. */
  readonly checkedOutside: boolean;
  create(address: string): Promise<NewCaptcha>;
  /** There is one try. */
  check(verifyId: string, answer: string, address: string): Promise<Verdict>;
  /** Whether nobody can solve one for the moment. */
  areAway(): Promise<boolean>;
}
