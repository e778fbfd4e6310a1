import { z } from 'zod';
import { bytes, described, id, time } from '../../http/parse';
import { portraitUriOrNone } from '../profile/profile-schemas';
import { otherId, person } from '../users/profile';
import type { GroupDetail } from './groups-repository';
import type { Member } from './memberships-repository';
import { CREATOR, MANAGER, MEMBER } from './roles';

const HIKERS = 'g4Xk9PqLs2Wv';

export const groupId = described(id, { examples: [HIKERS] });
const name = described(bytes(2, 32), { examples: ['Hikers'] });
const bulletin = described(bytes(0, 1_024), { examples: ['We meet on Sunday.'] });
const displayName = described(bytes(0, 32), { examples: ['Ann from work'] });
const memberIds = z.array(otherId, { error: 'must be an array of ids' });
/** Of 64 characters each, a body has room for 240. */
const otherIds = memberIds.max(499, 'must be at most 499 ids');
const someIds = memberIds.min(1, 'must be 1 to 100 ids').max(100, 'must be 1 to 100 ids');

export const byId = z.object({ id: groupId });
export const newGroup = z
  .object({ name, memberIds: otherIds, portraitUri: portraitUriOrNone.optional() })
  .meta({ id: 'GroupToCreate' });
export const ofGroup = z.object({ groupId }).meta({ id: 'OneGroup' });
export const someMembers = z.object({ groupId, memberIds: someIds }).meta({ id: 'SomeMembers' });
export const oneMember = z.object({ groupId, userId: otherId }).meta({ id: 'OneMember' });
export const newName = z.object({ groupId, name }).meta({ id: 'NewGroupName' });
export const newPortrait = z.object({ groupId, portraitUri: portraitUriOrNone }).meta({ id: 'NewGroupPortrait' });
export const newBulletin = z.object({ groupId, bulletin }).meta({ id: 'NewBulletin' });
export const newDisplayName = z.object({ groupId, displayName }).meta({ id: 'NewDisplayName' });

export const shownName = z.string().meta({ examples: ['Hikers'] });
export const shownPortrait = z.string().meta({
  description: 'An http or https address; empty where there is none.',
  examples: ['https://images.example.com/k7Qw2mZr9TfB/hikers.png'],
});

export const shownDisplayName = z.string().meta({
  description: 'How the member is called in the group; empty where there is none.',
  examples: ['Ann from work'],
});

/** Named as clients' programs name them. */
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
  .meta({ examples: [2] });

const group = z
  .strictObject({
    id: groupId,
    name: shownName,
    portraitUri: shownPortrait,
    creatorId: z.string().meta({ examples: ['k7Qw2mZr9TfB'] }),
    memberCount: count,
  })
  .meta({ id: 'Group' });

export const groups = z.array(group);

export const created = z.strictObject({ id: groupId }).meta({ id: 'NewGroupId' });

export const detail = group
  .extend({
    maxMemberCount: described(count, { examples: [500] }),
    bulletin: z.string().meta({ examples: ['We meet on Sunday.'] }),
    dismissedAt: time.nullable().meta({ description: 'Null as long as there is the group.', examples: [null] }),
  })
  .meta({ id: 'GroupDetail' });

const member = z
  .strictObject({ displayName: shownDisplayName, role, createdAt: time, updatedAt: time, user: person })
  .meta({ id: 'GroupMember' });

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
