import { z } from 'zod';
import { bytes, id } from '../../http/parse';
import { phoneFields } from '../phones/phone-fields';
import { nickname } from '../users/profile';
import { givenToken } from '../verification/verification-schemas';

export const password = bytes(6, 20).refine((value) => !/\s/u.test(value), 'must not contain white space');

export const registration = z.object({ nickname, password, verification_token: givenToken });

export const newAccount = z.strictObject({ id });

export const credentials = z.intersection(phoneFields, z.object({ password }));

export const signedIn = z.strictObject({ id, token: z.string() });

export const reset = z.object({ password, verification_token: givenToken });

export const passwordChange = z.object({ oldPassword: password, newPassword: password });
