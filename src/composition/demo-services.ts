import type { Knex } from 'knex';
import type { Reading } from '../database/replica';
import { transactions } from '../database/transaction';
import { FriendshipsService } from '../features/friendships/friendships-service';
import { GroupsService } from '../features/groups/groups-service';
import { MembershipsService } from '../features/groups/memberships-service';
import { repositories } from './repositories';

export type DemoServices = ReturnType<typeof demoServices>;

/** Returns the services of friendships and groups without limits on numbers, for demo users. */
export function demoServices(db: Knex) {
  const repos = repositories(db);
  const transaction = transactions(db, repositories);
  const reading: Pick<Reading, 'readAt'> = { readAt: () => (ask) => ask({ reads: db, db }) };
  const settings = { addFriendsOnly: false, joinable: true, maxMembers: 100_000, maxPerUser: 0, maxJoined: 0 };
  return {
    friendships: new FriendshipsService(repos.friendships, transaction, { friends: 0, requests: 0 }),
    groups: new GroupsService({ ...repos, transaction, reading }, settings, { hosts: [], publicOnly: false }),
    memberships: new MembershipsService(repos.memberships, transaction, settings),
  };
}
