import type { Foundation } from '../../foundation/foundation';
import { GROUP_KINDS } from '../events/events-repository';
import type { PortraitRules } from '../profile/portrait-host';
import { DismissalsService, type EndingRepositories } from './dismissals-service';
import type { GroupsRepository } from './groups-repository';
import { GroupsService, type GroupSettings } from './groups-service';
import { MembershipsService } from './memberships-service';

type Needs = Foundation<EndingRepositories & { groups: GroupsRepository }>;

export function buildGroups(needs: Needs, settings: GroupSettings, portraits: PortraitRules) {
  const { repos, transaction, background, connections } = needs;
  const dismissals = new DismissalsService(repos.dismissals, transaction, background.ends);
  return {
    groups: new GroupsService({ ...repos, transaction, reading: connections.reading }, settings, portraits),
    memberships: new MembershipsService(repos.memberships, transaction, settings),
    dismissals,
    part: { sweeps: [{ name: 'dismissals', run: () => dismissals.sweep() }], events: GROUP_KINDS },
  };
}
