import { z } from 'zod';
import { described, time } from '../../base/schemas';
import { friendStatus } from '../friendships/friendships-schemas';
import { groupId, role } from '../groups/groups-schemas';
import { ownSessions } from '../sessions/sessions-schemas';
import { otherId, profile } from '../users/profile';
import type { NumberClaim } from './number-claims-repository';

const user = profile
  .extend({
    findable: z
      .boolean()
      .meta({ description: 'Whether users who are not friends can find it by phone.', examples: [true] }),
    createdAt: time,
  })
  .meta({ id: 'KeptUser', description: 'The account.' });
const text = (description: string, example: string) => z.string().meta({ description, examples: [example] });
const phone = z
  .strictObject({
    phone: text('The number, in E.164.', '+447911123456'),
    region: text('Its dialling code.', '44'),
    language: text('The language of messages to it; empty: the default.', 'en'),
  })
  .meta({ id: 'KeptPhone', description: 'A phone of the account.' });
const numberClaim = z
  .strictObject({
    phone: text('The number, in E.164.', '+447911123456'),
    claimedAt: time,
    due: described(time, { description: 'From then on the account may be closed.' }),
  })
  .meta({ id: 'KeptNumberClaim', description: 'An open claim of a phone by a person who has proved it.' });
const image = z
  .strictObject({
    key: text('Its name: `<domain>/<key>` is its address.', 'k7Qw2mZr9TfB/ann.png'),
    bytes: z
      .int()
      .nonnegative()
      .meta({ format: 'int64', description: 'The size of its file.', examples: [48_213] }),
  })
  .meta({ id: 'KeptImage', description: 'An image that the user uploaded.' });
const blacklistEntry = z
  .strictObject({
    friendId: otherId,
    status: z.boolean().meta({ description: 'False if the entry has ended.', examples: [true] }),
    updatedAt: time,
  })
  .meta({ id: 'KeptBlacklistEntry', description: 'An entry of the blacklist.' });
const friendship = z
  .strictObject({
    friendId: otherId,
    displayName: text("The user's name for the friend.", 'Annie'),
    message: text('The message of the request, until it is answered.', ''),
    status: friendStatus,
    updatedAt: time,
  })
  .meta({ id: 'KeptFriendship', description: "The user's side of a friendship or a request." });
const membership = z
  .strictObject({
    groupId,
    groupName: text('The name of the group.', 'Hikers'),
    displayName: text("The user's name in the group.", 'Ann from work'),
    role,
    isDeleted: z.boolean().meta({ description: 'Whether the membership has ended.', examples: [false] }),
    updatedAt: time,
  })
  .meta({ id: 'KeptMembership', description: 'A membership of the user.' });
const securityEvent = z
  .strictObject({
    at: time,
    event: text('The kind of event.', 'login'),
    phone: text('In E.164; empty if the event is not about a phone.', '+447911123456'),
    ip: text('The address of the client; empty before the last password reset.', '203.0.113.7'),
    userAgent: text('The client, as it calls itself; empty before the last password reset.', 'Hikers/1.0 (Android 16)'),
    detail: text('Further details.', ''),
  })
  .meta({ id: 'SecurityEvent', description: 'An event of the account, such as a login.' });

/** Hashes, tokens and keys are left out: their only use is to get in. */
export const keptData = z
  .strictObject({
    user,
    phones: z.array(phone).meta({ description: 'The phones of the account.' }),
    numberClaims: z.array(numberClaim).meta({ description: 'Open claims of the phones.' }),
    sessions: described(ownSessions, { description: 'The sessions of the account, the newest first.' }),
    images: z.array(image).meta({ description: 'Images that the user uploaded to this service.' }),
    blacklist: z.array(blacklistEntry).meta({ description: 'The blacklist, including ended entries.' }),
    friendships: z.array(friendship).meta({ description: 'Friends and requests, including ended ones.' }),
    memberships: z.array(membership).meta({ description: 'Groups that the user is or was in.' }),
    securityEvents: z.array(securityEvent).meta({ description: 'Events of the account, the oldest first.' }),
  })
  .meta({ id: 'KeptData', description: 'All that the service keeps about the user.' });

export function keptClaimView({ phone, claimedAt, dueAt }: NumberClaim): z.infer<typeof numberClaim> {
  return { phone, claimedAt: claimedAt.toISOString(), due: dueAt.toISOString() };
}

export type KeptUser = z.infer<typeof user>;
export type KeptPhone = z.infer<typeof phone>;
export type KeptImage = z.infer<typeof image>;
export type KeptBlacklistEntry = z.infer<typeof blacklistEntry>;
export type KeptFriendship = z.infer<typeof friendship>;
export type KeptMembership = z.infer<typeof membership>;
export type KeptEvent = z.infer<typeof securityEvent>;
