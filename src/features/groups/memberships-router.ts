import { operation, type Operation } from '../../http/operation';
import type { DismissalsService } from './dismissals-service';
import { ofGroup, oneMember, someMembers } from './groups-schemas';
import type { MembershipsService } from './memberships-service';
import type { RolesService } from './roles-service';

const noGroup = 'no group of the user';
const forCreator = { 404: noGroup, 403: 'the user is not its creator' };

export interface MembershipsServices {
  memberships: MembershipsService;
  roles: RolesService;
  dismissals: DismissalsService;
}

/** Who is in a group, and as what. */
export function membershipsRouter({ memberships, roles, dismissals }: MembershipsServices): Operation[] {
  return [
    operation({
      path: '/group/add',
      summary: 'Brings others into a group.',
      access: 'user',
      body: someMembers,
      writes: true,
      refusals: { 400: 'some of memberIds cannot be added, or the group is full', 404: noGroup },
      handle: ({ groupId, memberIds }, { userId }) => memberships.add(groupId, userId, memberIds),
    }),
    operation({
      path: '/group/join',
      summary: 'Makes the user a member of a group.',
      access: 'user',
      body: ofGroup,
      writes: true,
      refusals: {
        400: 'the group is full',
        403: 'nobody joins without being added',
        404: 'no such group, or the user was kicked out of it',
      },
      handle: ({ groupId }, { userId }) => memberships.join(groupId, userId),
    }),
    operation({
      path: '/group/quit',
      summary: 'Ends the membership of the user.',
      access: 'user',
      body: ofGroup,
      writes: true,
      refusals: { 404: noGroup },
      handle: ({ groupId }, { userId, caller }) => memberships.quit(groupId, userId, caller),
    }),
    operation({
      path: '/group/kick',
      summary: 'Ends the memberships of others.',
      access: 'user',
      body: someMembers,
      writes: true,
      refusals: { 403: 'the user may not kick all of them', 404: noGroup },
      handle: ({ groupId, memberIds }, { userId }) => memberships.kick(groupId, userId, memberIds),
    }),
    operation({
      path: '/group/dismiss',
      summary: 'Ends a group for all its members.',
      access: 'user',
      body: ofGroup,
      writes: true,
      refusals: forCreator,
      handle: ({ groupId }, { userId, caller }) => dismissals.dismiss(groupId, userId, caller),
    }),
    operation({
      path: '/group/transfer',
      summary: 'Makes another member the creator.',
      access: 'user',
      body: oneMember,
      writes: true,
      refusals: { ...forCreator, 400: 'the other is no member' },
      handle: (input, call) => roles.transfer(input.groupId, call.userId, input.userId),
    }),
    operation({
      path: '/group/set_manager',
      summary: 'Makes members managers.',
      access: 'user',
      body: someMembers,
      writes: true,
      refusals: { ...forCreator, 400: 'some of memberIds are no other members' },
      handle: ({ groupId, memberIds }, { userId }) => roles.setManagers(groupId, userId, memberIds),
    }),
    operation({
      path: '/group/remove_manager',
      summary: 'Makes managers plain members again.',
      access: 'user',
      body: someMembers,
      writes: true,
      refusals: forCreator,
      handle: ({ groupId, memberIds }, { userId }) => roles.removeManagers(groupId, userId, memberIds),
    }),
  ];
}
