import { Router } from 'express';
import { z } from 'zod';
import { addressOf } from '../../../base/networks';
import type { Endpoint } from '../../../http/endpoint';
import { get } from '../../../http/route';
import type { AltchaCaptchas } from './captchas';

const HEX = '6d1b7a0c5f2e493884bb1d05c7a9e2f4';

const text = (description: string, example: string) => z.string().meta({ description, examples: [example] });

const challenge = z
  .object({
    parameters: z
      .object({
        algorithm: text('How keys are derived.', 'PBKDF2/SHA-256'),
        cost: z.int().meta({ description: 'Rounds of PBKDF2.', examples: [5_000] }),
        expiresAt: z.int().meta({ description: 'Seconds since 1970.', examples: [1_767_225_600] }),
        keyLength: z.int().meta({ description: 'Bytes of a key.', examples: [32] }),
        keyPrefix: text('Hexadecimal start of the wanted key.', HEX),
        keySignature: text('For the service.', HEX),
        nonce: text('Hexadecimal; the password of a key is the nonce and the counter in four bytes.', HEX),
        salt: text('Hexadecimal.', HEX),
      })
      .meta({ description: 'The work. A client sends these fields back as they are.' }),
    signature: text('For the service.', HEX),
  })
  .meta({ id: 'Challenge', description: 'A challenge of ALTCHA, version 2.' });

export const challengeOfCaptcha: Endpoint = {
  method: 'get',
  path: '/captcha/challenge',
  name: 'captchaChallenge',
  summary: "A new challenge for a proof of work, as ALTCHA's widget takes it.",
  answer: { type: 'application/json', result: challenge },
  // If the captchas are of another kind.
  refusals: ['no_such_path', 'overloaded'],
};

/** Serves challenges. Their address stays the same, so that a widget gets another one when the first has expired. */
export function challengeRouter(captchas: AltchaCaptchas): Router {
  const router = Router();

  get(router, '/challenge', async (req, res) => {
    const made = await captchas.challenge(addressOf(req.sentFrom));
    res.json(made);
  });

  return router;
}
