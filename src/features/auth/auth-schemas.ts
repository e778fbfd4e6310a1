import { z } from 'zod';
import { nickname, password, phoneFields, verificationToken } from '../../http/parse';

export const registration = z.object({ nickname, password, verification_token: verificationToken });

export const credentials = z.intersection(phoneFields, z.object({ password }));

export const reset = z.object({ password, verification_token: verificationToken });

export const passwordChange = z.object({ oldPassword: password, newPassword: password });
