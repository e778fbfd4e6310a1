import { z } from 'zod';
import { described, time } from '../../http/parse';
import { friendStatus } from '../friendships/friendships-schemas';
import { groupId, role } from '../groups/groups-schemas';
import { ownSessions } from '../sessions/sessions-schemas';
import { otherId, profile } from '../users/profile';

const user = profile
  .extend({ findable: z.boolean().meta({ examples: [true] }), createdAt: time })
  .meta({ id: 'KeptUser' });
const text = (example: string) => z.string().meta({ examples: [example] });
const phone = z
  .strictObject({
    phone: described(text('+447911123456'), { description: 'In E.164.' }),
    region: text('44'),
  })
  .meta({ id: 'KeptPhone' });
const image = z
  .strictObject({
    key: text('k7Qw2mZr9TfB/ann.png'),
    bytes: z
      .int()
      .nonnegative()
      .meta({ format: 'int64', examples: [48_213] }),
  })
  .meta({ id: 'KeptImage' });
const blacklistEntry = z
  .strictObject({ friendId: otherId, status: z.boolean().meta({ examples: [true] }), updatedAt: time })
  .meta({ id: 'KeptBlacklistEntry' });
const friendship = z
  .strictObject({
    friendId: otherId,
    displayName: text('Annie'),
    message: text(''),
    status: friendStatus,
    updatedAt: time,
  })
  .meta({ id: 'KeptFriendship' });
const membership = z
  .strictObject({
    groupId,
    groupName: text('Hikers'),
    displayName: text('Ann from work'),
    role,
    isDeleted: z.boolean().meta({ examples: [false] }),
    updatedAt: time,
  })
  .meta({ id: 'KeptMembership' });
const securityEvent = z
  .strictObject({
    at: time,
    event: text('login'),
    phone: text('+447911123456'),
    ip: text('203.0.113.7'),
    userAgent: text('Hikers/1.0 (Android 16)'),
    detail: text(''),
  })
  .meta({ id: 'SecurityEvent' });

/** Hashes, tokens and keys are no part of it: they are good for nothing but getting in. */
export const keptData = z
  .strictObject({
    user,
    phones: z.array(phone),
    sessions: ownSessions,
    images: z.array(image),
    blacklist: z.array(blacklistEntry),
    friendships: z.array(friendship),
    memberships: z.array(membership),
    securityEvents: z.array(securityEvent),
  })
  .meta({ id: 'KeptData' });

export type KeptUser = z.infer<typeof user>;
export type KeptPhone = z.infer<typeof phone>;
export type KeptImage = z.infer<typeof image>;
export type KeptBlacklistEntry = z.infer<typeof blacklistEntry>;
export type KeptFriendship = z.infer<typeof friendship>;
export type KeptMembership = z.infer<typeof membership>;
export type KeptEvent = z.infer<typeof securityEvent>;
