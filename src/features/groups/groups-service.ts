import type { GroupsRepository } from './groups-repository';
import type { Group } from './groups-schemas';

export class GroupsService {
  constructor(private readonly groups: GroupsRepository) {}

  async ofMember(userId: string): Promise<Group[]> {
    return this.groups.ofMember(userId);
  }
}
