import type { Foundation } from '../../foundation/foundation';
import { BlacklistService, type BlacklistRepositories } from './blacklist-service';

export function buildBlacklist({ repos, transaction }: Foundation<BlacklistRepositories>, most: number) {
  return { blacklist: new BlacklistService(repos.blacklist, transaction, most) };
}
