export interface NewCaptcha {
  /** What the answer is sent back with. */
  verifyId: string;
  /** Of what a client shows, below the address of this service. */
  path: string;
}

export type Verdict = 'right' | 'wrong';

/** Captchas, which tell people from programs. */
export interface Captchas {
  create(): Promise<NewCaptcha>;
  /** There is one try. */
  check(verifyId: string, answer: string): Promise<Verdict>;
}
