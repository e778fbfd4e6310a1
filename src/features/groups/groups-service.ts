import type { Group, GroupsRepository } from './groups-repository';

export class GroupsService {
  constructor(private readonly groups: GroupsRepository) {}

  async ofMember(userId: string): Promise<Group[]> {
    return this.groups.ofMember(userId);
  }
}
