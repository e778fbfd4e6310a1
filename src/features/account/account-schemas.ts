import { z } from 'zod';
import { password } from '../auth/auth-schemas';
import { givenToken } from '../verification/verification-schemas';

export const findability = z
  .object({
    findable: z
      .boolean({ error: 'must be true or false' })
      .meta({ description: 'False: only friends find the user by phone.' }),
  })
  .meta({ id: 'Findability', description: 'Whether the user can be found by phone.' });

export const ownPassword = z
  .object({ password })
  .meta({ id: 'OwnPassword', description: 'The password of the account.' });

export const newPhone = z.object({ password, verification_token: givenToken }).meta({
  id: 'PhoneToChange',
  description: 'The verification token of the new phone, and the password of the account.',
});
