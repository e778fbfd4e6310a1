import { viewed } from '../../http/json-stream';
import { operation, streamedOperation, type Operation } from '../../http/operation';
import * as schemas from './groups-schemas';
import type { GroupsService } from './groups-service';

const forManagers = ['no_such_group', 'role_too_low'] as const;

export function groupsRouter(groups: GroupsService): Operation[] {
  return [
    operation({
      path: '/user/groups',
      summary: 'Returns the groups that the user is a member of.',
      access: 'user',
      result: schemas.groups,
      queue: 'heavyReads',
      handle: (_input, { userId }) => groups.ofMember(userId),
    }),
    operation({
      path: '/group/create',
      summary: 'Creates a group, with the user as its creator.',
      access: 'user',
      body: schemas.newGroup,
      result: schemas.created,
      queue: 'writes',
      refusals: [
        'too_many_groups',
        'too_many_memberships',
        'unknown_user',
        'friends_only',
        'member_full',
        'group_full',
        'portrait_host_not_allowed',
      ],
      limits: [
        'groupsCreatedPerDay',
        ['groupChangesPerHour', ({ memberIds }, userId) => new Set([userId, ...memberIds]).size],
      ],
      handle: async (group, { userId }) => ({ id: await groups.create(userId, group) }),
    }),
    operation({
      path: '/group/rename',
      summary: 'Gives a group another name.',
      access: 'user',
      body: schemas.newName,
      queue: 'writes',
      limits: ['groupChangesPerHour'],
      refusals: forManagers,
      handle: ({ groupId, name }, { userId }) => groups.change(groupId, userId, { name }),
    }),
    operation({
      path: '/group/set_portrait_uri',
      summary: "Changes the address of a group's portrait.",
      access: 'user',
      body: schemas.newPortrait,
      queue: 'writes',
      limits: ['groupChangesPerHour'],
      refusals: [...forManagers, 'portrait_host_not_allowed'],
      handle: ({ groupId, portraitUri }, { userId }) => groups.change(groupId, userId, { portraitUri }),
    }),
    operation({
      path: '/group/set_bulletin',
      summary: "Changes a group's bulletin.",
      access: 'user',
      body: schemas.newBulletin,
      queue: 'writes',
      limits: ['groupChangesPerHour'],
      refusals: forManagers,
      handle: ({ groupId, bulletin }, { userId }) => groups.change(groupId, userId, { bulletin }),
    }),
    operation({
      path: '/group/set_display_name',
      summary: "Changes the user's name in a group.",
      access: 'user',
      body: schemas.newDisplayName,
      queue: 'writes',
      limits: ['groupChangesPerHour'],
      refusals: ['no_such_group'],
      handle: ({ groupId, displayName }, { userId }) => groups.setDisplayName(groupId, userId, displayName),
    }),
    operation({
      path: '/group/:id',
      summary: 'Returns a group of the user, or one that was dismissed while the user was a member.',
      access: 'reader',
      params: schemas.byId,
      result: schemas.detail,
      refusals: ['no_such_group'],
      handle: async ({ id }, reader) => schemas.detailView(await groups.detail(id, reader), groups.settings.maxMembers),
    }),
    streamedOperation({
      path: '/group/:id/members',
      summary: 'Returns the members of a group of the user, in the order of their ids.',
      access: 'user',
      params: schemas.byId,
      result: schemas.members,
      queue: 'heavyReads',
      refusals: ['no_such_group'],
      stream: async ({ id }, { userId }) => viewed(await groups.members(id, userId), schemas.memberView),
    }),
  ];
}
