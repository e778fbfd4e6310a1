import { z } from 'zod';
import { bytes, id } from '../../http/parse';
import { portraitUri } from '../profile/profile-schemas';
import type { GroupDetail } from './groups-repository';
import type { Member } from './memberships-repository';

const name = bytes(2, 32);
const bulletin = bytes(0, 1_024);
const displayName = bytes(0, 32);
const memberIds = z.array(id, { error: 'must be an array of ids' });
/** As many as a body has room for. */
const someIds = memberIds.min(1, 'must be 1 to 100 ids').max(100, 'must be 1 to 100 ids');

export const byId = z.object({ id });
export const newGroup = z.object({
  name,
  memberIds: memberIds.max(499, 'must be at most 499 ids'),
  portraitUri: portraitUri.optional(),
});
export const ofGroup = z.object({ groupId: id });
export const someMembers = z.object({ groupId: id, memberIds: someIds });
export const oneMember = z.object({ groupId: id, userId: id });
export const newName = z.object({ groupId: id, name });
export const newPortrait = z.object({ groupId: id, portraitUri });
export const newBulletin = z.object({ groupId: id, bulletin });
export const newDisplayName = z.object({ groupId: id, displayName });

const group = z.strictObject({
  id,
  name: z.string(),
  portraitUri: z.string(),
  creatorId: z.string(),
  memberCount: z.number(),
});

export const groups = z.array(group);

export const created = z.strictObject({ id });

export const detail = group.extend({
  maxMemberCount: z.number(),
  bulletin: z.string(),
  dismissedAt: z.iso.datetime().nullable(),
});

const member = z.strictObject({
  displayName: z.string(),
  role: z.number(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  user: z.strictObject({ id, nickname: z.string(), portraitUri: z.string() }),
});

export const members = z.array(member);

export function detailView(found: GroupDetail, maxMemberCount: number): z.infer<typeof detail> {
  const { id, name, portraitUri, creatorId, memberCount, bulletin, dismissedAt } = found;
  const end = dismissedAt?.toISOString() ?? null;
  return { id, name, portraitUri, creatorId, memberCount, maxMemberCount, bulletin, dismissedAt: end };
}

export function memberView(row: Member): z.infer<typeof member> {
  const { id, nickname, portraitUri, displayName, role, createdAt, updatedAt } = row;
  return {
    ...{ displayName, role, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() },
    user: { id, nickname, portraitUri },
  };
}
