import { z } from 'zod';
import { bytes } from '../../http/parse';
import { phoneFields } from '../phones/phone-fields';

export const phone = phoneFields;

/** The token of a captcha provider has some thousand bytes. */
const captchaAnswer = z.object({
  verifyId: bytes(0, 64).optional(),
  verifyCode: bytes(0, 8_192).optional(),
});

export const sendCode = z.intersection(phoneFields, captchaAnswer);

export const verifyCode = z.intersection(phoneFields, z.object({ code: bytes(1, 32) }));

/** As clients send it to prove that a phone is theirs. */
export const givenToken = bytes(1, 256);

export const verificationToken = z.strictObject({ verification_token: z.string() });

export const isAvailable = z.boolean();

export const newCaptcha = z.strictObject({ url: z.string(), verifyId: z.string() });
