import { z } from 'zod';
import { id } from '../../http/parse';
import { ownSessions } from '../sessions/sessions-schemas';
import { profile } from '../users/profile';

const time = z.iso.datetime();

const user = profile.extend({ findable: z.boolean(), createdAt: time });
const phone = z.strictObject({ phone: z.string(), region: z.string() });
const image = z.strictObject({ key: z.string(), bytes: z.number() });
const blacklistEntry = z.strictObject({ friendId: id, status: z.boolean(), updatedAt: time });
const friendship = z.strictObject({
  friendId: id,
  displayName: z.string(),
  message: z.string(),
  status: z.number(),
  updatedAt: time,
});
const membership = z.strictObject({
  groupId: id,
  groupName: z.string(),
  displayName: z.string(),
  role: z.number(),
  isDeleted: z.boolean(),
  updatedAt: time,
});
const securityEvent = z.strictObject({
  at: time,
  event: z.string(),
  phone: z.string(),
  ip: z.string(),
  userAgent: z.string(),
  detail: z.string(),
});

/** Hashes, tokens and keys are no part of it: they are good for nothing but getting in. */
export const keptData = z.strictObject({
  user,
  phones: z.array(phone),
  sessions: ownSessions,
  images: z.array(image),
  blacklist: z.array(blacklistEntry),
  friendships: z.array(friendship),
  memberships: z.array(membership),
  securityEvents: z.array(securityEvent),
});

export type KeptUser = z.infer<typeof user>;
export type KeptPhone = z.infer<typeof phone>;
export type KeptImage = z.infer<typeof image>;
export type KeptBlacklistEntry = z.infer<typeof blacklistEntry>;
export type KeptFriendship = z.infer<typeof friendship>;
export type KeptMembership = z.infer<typeof membership>;
export type KeptEvent = z.infer<typeof securityEvent>;
