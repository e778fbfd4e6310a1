import type { Foundation } from '../../foundation/foundation';
import type { FriendshipsRepository } from './friendships-repository';
import { FriendshipsService } from './friendships-service';
import type { Most } from './invitation';

export function buildFriendships(
  { repos, transaction }: Foundation<{ friendships: FriendshipsRepository }>,
  most: Most,
) {
  const friendships = new FriendshipsService(repos.friendships, transaction, most);
  const sweeps = [{ name: 'requests', run: () => friendships.sweep() }];
  return { friendships, part: { sweeps, events: ['friendship.changed'] } };
}
