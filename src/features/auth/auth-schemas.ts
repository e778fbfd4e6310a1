import { z } from 'zod';
import { bytes, described, id } from '../../base/schemas';
import { phoneFields } from '../phones/phone-fields';
import { nickname } from '../users/profile';
import { givenToken } from '../verification/verification-schemas';

const JWT = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJrN1F3Mm1acjlUZkIifQ.AHfGPWTHLzD0y8Kx-GkrbA';

export const password = described(
  bytes(6, 20).refine((value) => !/\s/u.test(value), 'must not contain white space'),
  { format: 'password', description: '6 to 20 bytes of UTF-8, without white space.', examples: ['opensesame'] },
);

export const registration = z
  .object({ nickname, password, verification_token: givenToken })
  .meta({ id: 'Registration', description: 'A new account.' });

export const newAccount = z.strictObject({ id }).meta({ id: 'NewAccount', description: 'The new account.' });

export const credentials = z
  .intersection(phoneFields, z.object({ password }))
  .meta({ id: 'Credentials', description: 'A phone and the password of its account.' });

export const signedIn = z
  .strictObject({
    id,
    token: z.string().meta({
      description: 'For the messaging server, or for the service that get_token was asked for.',
      examples: [JWT],
    }),
  })
  .meta({ id: 'MessagingToken', description: 'The user, and a token for the messaging server.' });

export const reset = z
  .object({ password, verification_token: givenToken })
  .meta({ id: 'PasswordReset', description: "A new password, with the proof that the phone is the user's." });

const verification_token = givenToken;

export const tokenLogin = z
  .object({ verification_token })
  .meta({ id: 'TokenLogin', description: 'The proof of a phone, in place of its password.' });

export const tokenRegistration = z
  .object({ nickname, verification_token })
  .meta({ id: 'TokenRegistration', description: 'A new account without a password.' });

export const firstPassword = z.object({ password, verification_token }).meta({
  id: 'FirstPassword',
  description: "The password, with a fresh proof that the account's phone is the user's.",
});

export const passwordChange = z
  .object({ oldPassword: password, newPassword: described(password, { examples: ['opensesame2'] }) })
  .meta({ id: 'PasswordChange', description: 'The current password, and the new one.' });
