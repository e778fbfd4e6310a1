export interface NewCaptcha {
  /** What the answer is sent back with. */
  verifyId: string;
  /** Of what a client shows, below the address of this service. */
  path: string;
}

export type Verdict = 'right' | 'wrong';

/** What a right answer is worth: whose limits it raises. */
export type VouchedFor = 'phone' | 'phone and address';

/** Captchas, which tell people from programs. */
export interface Captchas {
  readonly vouchesFor: VouchedFor;
  create(): Promise<NewCaptcha>;
  /** There is one try. */
  check(verifyId: string, answer: string): Promise<Verdict>;
}
