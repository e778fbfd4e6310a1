import { operation, type Operation } from '../../http/operation';
import { groups as listOfGroups } from './groups-schemas';
import type { GroupsService } from './groups-service';

export function groupsRouter(groups: GroupsService): Operation[] {
  return [
    operation({
      path: '/user/groups',
      summary: 'The groups that the user is a member of.',
      access: 'user',
      result: listOfGroups,
      heavy: true,
      refusals: { 429: 'too many under way for the user' },
      handle: (_input, { userId }) => groups.ofMember(userId),
    }),
  ];
}
