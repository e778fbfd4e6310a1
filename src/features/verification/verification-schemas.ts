import { z } from 'zod';
import { bytes, phoneFields } from '../../http/parse';

export const phone = phoneFields;

const captchaAnswer = z.object({
  verifyId: bytes(0, 64).optional(),
  verifyCode: bytes(0, 64).optional(),
});

export const sendCode = z.intersection(phoneFields, captchaAnswer);

export const verifyCode = z.intersection(phoneFields, z.object({ code: bytes(1, 32) }));
