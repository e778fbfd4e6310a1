import type { Foundation } from '../../foundation/foundation';
import { BlacklistService, type BlacklistRepositories } from './blacklist-service';

export function buildBlacklist({ repos, transaction }: Foundation<BlacklistRepositories>, most: number) {
  const blacklist = new BlacklistService(repos.blacklist, transaction, most);
  return { blacklist, part: { events: ['blacklist.changed'] } };
}
