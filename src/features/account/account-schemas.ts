import { z } from 'zod';
import { described, time } from '../../base/schemas';
import { password } from '../auth/auth-schemas';
import { givenToken } from '../verification/verification-schemas';
import type { NumberClaim } from './number-claims-repository';

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

export const ownNumber = z
  .object({ verification_token: givenToken })
  .meta({ id: 'NumberToStartOver', description: 'The proof that the phone is in the hands of the caller.' });

const due = described(time, { description: 'From then on start_over with a new proof closes the account.' });

export const startedOver = z
  .strictObject({
    state: z.enum(['free', 'claimed']).meta({
      description: 'free: register with the same token. claimed: the owner has until `due` to keep the number.',
      examples: ['claimed'],
    }),
    due: due.optional(),
  })
  .meta({ id: 'StartedOver', description: 'Whether the number is free now.' });

export const ownClaim = z
  .strictObject({
    claimedAt: described(time, { description: 'When the claim began.' }).optional(),
    due: due.optional(),
  })
  .meta({ id: 'OwnNumberClaim', description: "The claim of the user's number. Empty if there is none." });

export function startedOverView(claim: NumberClaim | undefined): z.infer<typeof startedOver> {
  return claim ? { state: 'claimed', due: claim.dueAt.toISOString() } : { state: 'free' };
}

export function ownClaimView([claim]: NumberClaim[]): z.infer<typeof ownClaim> {
  return claim ? { claimedAt: claim.claimedAt.toISOString(), due: claim.dueAt.toISOString() } : {};
}
