import { z } from 'zod';
import { characters, described, id, inLine, inLines, PLAIN, time } from '../../base/schemas';
import { portraitUriOrNone } from '../profile/profile-schemas';
import { ids, otherId, person, someIds } from '../users/profile';
import type { Member } from './memberships-repository';
import { CREATOR, MANAGER, MEMBER } from './roles';

const HIKERS = 'g4Xk9PqLs2Wv';

export const groupId = described(id, { description: 'The id of a group.', examples: [HIKERS] });
/** At most 128 bytes, since a character has at most 4. */
const name = described(inLine(characters(1, 32)), {
  description: `The name of the group: 1 to 32 characters. ${PLAIN}`,
  examples: ['Hikers'],
});
const bulletin = described(inLines(characters(0, 1_024)), { examples: ['We meet on Sunday.'] });
const displayName = described(inLine(characters(0, 32)), { examples: ['Ann from work'] });
/** With 64 characters each, a body has room for 240. */
const otherIds = ids.max(499, 'must be at most 499 ids');

export const byId = z.object({ id: groupId });
export const newGroup = z
  .object({ name, memberIds: otherIds, portraitUri: portraitUriOrNone.optional() })
  .meta({ id: 'GroupToCreate', description: 'A group to create.' });
export type NewGroup = z.infer<typeof newGroup>;
export const ofGroup = z.object({ groupId }).meta({ id: 'OneGroup', description: 'A group.' });
export const someMembers = z
  .object({ groupId, memberIds: someIds })
  .meta({ id: 'SomeMembers', description: 'A group and some of its members.' });
export const oneMember = z
  .object({ groupId, userId: otherId })
  .meta({ id: 'OneMember', description: 'A group and one of its members.' });
export const newName = z
  .object({ groupId, name })
  .meta({ id: 'NewGroupName', description: 'The new name of a group.' });
export const newPortrait = z
  .object({ groupId, portraitUri: portraitUriOrNone })
  .meta({ id: 'NewGroupPortrait', description: 'The new portrait of a group.' });
export const newBulletin = z
  .object({ groupId, bulletin })
  .meta({ id: 'NewBulletin', description: 'The new bulletin of a group.' });
export const newDisplayName = z
  .object({ groupId, displayName })
  .meta({ id: 'NewDisplayName', description: "The user's name in a group." });

export const shownName = z.string().meta({ description: 'The name of the group.', examples: ['Hikers'] });
export const shownPortrait = z.string().meta({
  description: 'An http or https address; empty if there is none.',
  examples: ['https://images.example.com/k7Qw2mZr9TfB/hikers.png'],
});

export const shownDisplayName = z.string().meta({
  description: "The member's name in the group; empty if there is none.",
  examples: ['Ann from work'],
});

/** Roles by the names that clients use. */
const ROLES = { creator: CREATOR, member: MEMBER, manager: MANAGER };

export const role = z.literal(Object.values(ROLES)).meta({
  id: 'GroupRole',
  type: 'integer',
  description: '0: creator. 1: member. 2: manager.',
  'x-enum-varnames': Object.keys(ROLES),
});

const count = z
  .int()
  .nonnegative()
  .meta({ description: 'Number of members.', examples: [2] });

const group = z
  .strictObject({
    id: groupId,
    name: shownName,
    portraitUri: shownPortrait,
    creatorId: z.string().meta({ description: 'The id of the creator.', examples: ['k7Qw2mZr9TfB'] }),
    memberCount: count,
  })
  .meta({ id: 'Group', description: 'A group.' });

export type GroupSummary = z.infer<typeof group>;

export const groups = z.array(group);

export const created = z.strictObject({ id: groupId }).meta({ id: 'NewGroupId', description: 'The new group.' });

export const detail = group
  .extend({
    maxMemberCount: described(count, { description: 'Maximum number of members.', examples: [500] }),
    bulletin: z
      .string()
      .meta({ description: 'A text for all members; empty if there is none.', examples: ['We meet on Sunday.'] }),
    bulletinUpdatedAt: time.nullable().meta({ description: 'Null if there was never a bulletin.', examples: [null] }),
    dismissedAt: time.nullable().meta({ description: 'Null until the group is dismissed.', examples: [null] }),
  })
  .meta({ id: 'GroupDetail', description: 'A group, with all that members see of it.' });

/** The maximum number of members is a setting. */
export type GroupDetail = Omit<z.infer<typeof detail>, 'maxMemberCount'>;

const member = z
  .strictObject({ displayName: shownDisplayName, role, createdAt: time, updatedAt: time, user: person })
  .meta({ id: 'GroupMember', description: 'A member of a group.' });

export const members = z.array(member);

export function detailView(found: GroupDetail, maxMemberCount: number): z.infer<typeof detail> {
  const { id, name, portraitUri, creatorId, memberCount, bulletin, bulletinUpdatedAt, dismissedAt } = found;
  return { id, name, portraitUri, creatorId, memberCount, maxMemberCount, bulletin, bulletinUpdatedAt, dismissedAt };
}

export function memberView(row: Member): z.infer<typeof member> {
  const { id, nickname, portraitUri, displayName, role, createdAt, updatedAt } = row;
  return { displayName, role, createdAt, updatedAt, user: { id, nickname, portraitUri } };
}
