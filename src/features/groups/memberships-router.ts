import { operation, type Operation } from '../../http/operation';
import type { DismissalsService } from './dismissals-service';
import { ofGroup, oneMember, someMembers } from './groups-schemas';
import type { MembershipsService } from './memberships-service';

const forCreator = ['no_such_group', 'role_too_low'] as const;

const eachMember = ({ memberIds }: { memberIds: string[] }) => new Set(memberIds).size;

/** Members of groups, and their roles. */
export function membershipsRouter(memberships: MembershipsService, dismissals: DismissalsService): Operation[] {
  return [
    operation({
      path: '/group/add',
      summary: 'Adds users to a group.',
      access: 'user',
      body: someMembers,
      queue: 'writes',
      limits: [['groupChangesPerHour', eachMember]],
      refusals: ['no_such_group', 'unknown_user', 'friends_only', 'has_quit', 'member_full', 'group_full'],
      handle: ({ groupId, memberIds }, { userId }) => memberships.add(groupId, userId, memberIds),
    }),
    operation({
      path: '/group/join',
      summary: 'Joins a group.',
      access: 'user',
      body: ofGroup,
      queue: 'writes',
      refusals: ['no_such_group', 'joining_closed', 'group_full', 'too_many_memberships'],
      limits: ['groupChangesPerHour'],
      handle: ({ groupId }, { userId }) => memberships.join(groupId, userId),
    }),
    operation({
      path: '/group/quit',
      summary: 'Quits a group.',
      access: 'user',
      body: ofGroup,
      queue: 'writes',
      refusals: ['no_such_group'],
      handle: ({ groupId }, { userId, caller }) => memberships.quit(groupId, userId, caller),
    }),
    operation({
      path: '/group/kick',
      summary: 'Removes members from a group.',
      access: 'user',
      body: someMembers,
      queue: 'writes',
      refusals: ['no_such_group', 'role_too_low', 'not_yourself'],
      limits: [['groupChangesPerHour', eachMember]],
      handle: ({ groupId, memberIds }, { userId }) => memberships.kick(groupId, userId, memberIds),
    }),
    operation({
      path: '/group/dismiss',
      summary: 'Dismisses a group, for all its members.',
      access: 'user',
      body: ofGroup,
      queue: 'writes',
      refusals: forCreator,
      handle: ({ groupId }, { userId, caller }) => dismissals.dismiss(groupId, userId, caller),
    }),
    operation({
      path: '/group/transfer',
      summary: 'Makes another member the creator.',
      access: 'user',
      body: oneMember,
      queue: 'writes',
      refusals: [...forCreator, 'not_a_member'],
      limits: ['groupChangesPerHour'],
      handle: (input, { userId }) => memberships.transfer(input.groupId, userId, input.userId),
    }),
    operation({
      path: '/group/set_manager',
      summary: 'Makes members managers.',
      access: 'user',
      body: someMembers,
      queue: 'writes',
      refusals: [...forCreator, 'not_a_member'],
      limits: [['groupChangesPerHour', eachMember]],
      handle: ({ groupId, memberIds }, { userId }) => memberships.setManagers(groupId, userId, memberIds),
    }),
    operation({
      path: '/group/remove_manager',
      summary: 'Makes managers plain members again.',
      access: 'user',
      body: someMembers,
      queue: 'writes',
      limits: [['groupChangesPerHour', eachMember]],
      refusals: forCreator,
      handle: ({ groupId, memberIds }, { userId }) => memberships.removeManagers(groupId, userId, memberIds),
    }),
  ];
}
