import { z } from 'zod';
import { password } from '../auth/auth-schemas';
import { givenToken } from '../verification/verification-schemas';

export const findability = z.object({ findable: z.boolean({ error: 'must be true or false' }) });

export const ownPassword = z.object({ password });

export const newPhone = z.object({ password, verification_token: givenToken });
