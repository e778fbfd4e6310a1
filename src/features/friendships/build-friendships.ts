import type { Foundation } from '../../foundation/foundation';
import type { FriendshipsRepository } from './friendships-repository';
import { FriendshipsService } from './friendships-service';
import type { Most } from './invitation';

export function buildFriendships(
  { repos, transaction }: Foundation<{ friendships: FriendshipsRepository }>,
  most: Most,
) {
  const friendships = new FriendshipsService(repos.friendships, transaction, most);
  return { friendships, part: { sweeps: [{ name: 'requests', run: () => friendships.sweep() }] } };
}
