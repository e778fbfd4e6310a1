import { randomInt } from 'node:crypto';
import { createChallenge, verifySolution, type Challenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { z } from 'zod';
import { derivedKey } from '../../../base/secrets';
import type { Queue } from '../../../load/queue';
import type { Captchas, NewCaptcha, Verdict } from '../captchas';

/** Keeps the challenges that were solved, so that each solution counts once. */
export interface SpentChallenges {
  /** Returns false if the challenge was spent before. */
  spend(id: string, ttlSeconds: number): Promise<boolean>;
}

export interface AltchaOptions {
  /** The first one signs, each verifies. */
  secrets: readonly string[];
  /** Whether the spend guard has an alarm. */
  isAlarmed: () => boolean;
  /** Least keys that a client tries outside of an alarm. */
  leastKeys?: number;
}

interface Keys {
  hmacSignatureSecret: string;
  hmacKeySignatureSecret: string;
}

const ID = 'altcha';
const ALGORITHM = 'PBKDF2/SHA-256';
/** Rounds of one key: a browser spends its time on them, not on calls. */
const COST = 5_000;
/** Least keys that a client tries; at most, twice as many. A phone takes one to two seconds with all of its cores. */
const LEAST_KEYS = 1_000;
/** Factor of the work in an alarm. */
const IN_ALARM = 4;
const TTL_SECONDS = 300;

/** Signed fields, in the order of ALTCHA. Unknown ones would break the signature. */
const payload = z.object({
  challenge: z.object({
    parameters: z.strictObject({
      algorithm: z.literal(ALGORITHM),
      cost: z.number(),
      expiresAt: z.number(),
      keyLength: z.number(),
      keyPrefix: z.string(),
      keySignature: z.string(),
      nonce: z.string(),
      salt: z.string(),
    }),
    signature: z.string(),
  }),
  solution: z.object({ counter: z.number(), derivedKey: z.string() }),
});

/**
 * Proofs of work in the protocol of ALTCHA (version 2). They need no vendor, and there is nothing to read. A challenge
 * is not stored; only a solved one is, until it has expired.
 */
export class AltchaCaptchas implements Captchas {
  /** Not the address: a machine solves some thousand an hour. */
  readonly vouchesFor = 'phone';
  readonly goFirst = true;
  readonly checkedOutside = false;
  private readonly keys: [Keys, ...Keys[]];

  constructor(
    private readonly spent: SpentChallenges,
    private readonly making: Queue,
    private readonly options: AltchaOptions,
  ) {
    const keyOf = (secret: string, purpose: string) => derivedKey(secret, purpose).toString('base64url');
    const [first, ...others] = options.secrets.map((secret) => ({
      hmacSignatureSecret: keyOf(secret, 'challenges of captchas'),
      hmacKeySignatureSecret: keyOf(secret, 'solutions of captchas'),
    }));
    if (first === undefined) throw new Error('challenges need a secret');
    this.keys = [first, ...others];
  }

  create(): Promise<NewCaptcha> {
    return Promise.resolve({ verifyId: ID, path: '/captcha/challenge' });
  }

  /** Returns a challenge as ALTCHA's widget takes it. The service derives one key, the client a thousand or more. */
  challenge(address: string): Promise<Challenge> {
    const { isAlarmed, leastKeys = LEAST_KEYS } = this.options;
    const least = leastKeys * (isAlarmed() ? IN_ALARM : 1);
    return this.making.run(address, () =>
      createChallenge({
        ...this.keys[0],
        algorithm: ALGORITHM,
        cost: COST,
        counter: randomInt(least, 2 * least),
        deriveKey,
        expiresAt: Math.floor(Date.now() / 1_000) + TTL_SECONDS,
      }),
    );
  }

  async check(id: string, answer: string): Promise<Verdict> {
    const solved = id === ID ? payloadOf(answer) : undefined;
    if (solved === undefined || !(await this.isSolution(solved))) return 'wrong';
    const isFirst = await this.spent.spend(solved.challenge.parameters.nonce, 2 * TTL_SECONDS);
    return isFirst ? 'right' : 'wrong';
  }

  areAway(): Promise<boolean> {
    return Promise.resolve(false);
  }

  private async isSolution(solved: z.infer<typeof payload>): Promise<boolean> {
    for (const keys of this.keys) {
      const { verified } = await verifySolution({ ...solved, ...keys, deriveKey });
      if (verified) return true;
    }
    return false;
  }
}

/** Reads the payload of the widget: JSON in Base64. */
function payloadOf(answer: string): z.infer<typeof payload> | undefined {
  try {
    return payload.safeParse(JSON.parse(Buffer.from(answer, 'base64').toString())).data;
  } catch {
    return undefined;
  }
}
