import type { Knex } from 'knex';
import { copyDistributed } from './citus';
import { otherServers } from './database';

/** Users whose closing is complete. */
const CLOSED = `closed_at IS NOT NULL AND users.id NOT IN (SELECT user_id FROM account_closings)`;

/**
 * Rules that always hold for friendships, groups and closed accounts. Each statement finds the rows that break its
 * rule.
 */
const RULES = {
  'a living group has exactly one creator, who is a member and whom creator_id names': `
    SELECT id FROM groups
     WHERE dismissed_at IS NULL AND ARRAY[creator_id] IS DISTINCT FROM (
             SELECT array_agg(member_id) FROM group_members WHERE group_id = id AND NOT is_deleted AND role = 0)`,
  'the size of a group is the number of its living memberships': `
    SELECT id FROM groups LEFT JOIN group_sizes ON group_id = id
     WHERE members IS DISTINCT FROM (
             SELECT count(*) FROM group_members WHERE group_members.group_id = id AND NOT is_deleted)`,
  'a dismissed group has no living member, unless its dismissal is unfinished': `
    SELECT id FROM groups
     WHERE dismissed_at IS NOT NULL AND id NOT IN (SELECT group_id FROM group_dismissals)
       AND EXISTS (SELECT FROM group_members WHERE group_id = id AND NOT is_deleted)`,
  'the two sides of a friendship belong together': `
    SELECT mine.user_id || ' and ' || mine.friend_id || ': ' || concat_ws(' ', mine.status, theirs.status) AS id
      FROM friendships mine
      LEFT JOIN friendships theirs ON theirs.user_id = mine.friend_id AND theirs.friend_id = mine.user_id
     WHERE (concat_ws(' ', least(mine.status, theirs.status), greatest(mine.status, theirs.status))
              NOT IN ('10 11', '10 21', '10 30', '20 20', '20 30', '30 30')
            OR theirs.status IS NULL)
       AND NOT EXISTS (SELECT FROM account_closings closing WHERE closing.user_id IN (mine.user_id, mine.friend_id))`,
  'a user is in at most the allowed number of groups, and has made at most the allowed number of living ones': `
    SELECT id FROM users
     WHERE :joined < (SELECT count(*) FROM group_members WHERE member_id = id AND NOT is_deleted)
        OR :made < (SELECT count(*) FROM groups WHERE made_by = users.id AND dismissed_at IS NULL)`,
  'a closed account has no living membership': `
    SELECT id FROM users
     WHERE ${CLOSED} AND EXISTS (SELECT FROM group_members WHERE member_id = id AND NOT is_deleted)`,
  'a closed account has no friendship on either side': `
    SELECT id FROM users
     WHERE ${CLOSED} AND EXISTS (SELECT FROM friendships WHERE id IN (user_id, friend_id) AND status <> 30)`,
  'a closed account has an empty blacklist': `
    SELECT id FROM users WHERE ${CLOSED} AND EXISTS (SELECT FROM blacklist WHERE user_id = id AND status)`,
  'a closed account has no session': `
    SELECT id FROM users WHERE closed_at IS NOT NULL AND EXISTS (SELECT FROM session WHERE sess ->> 'userId' = id)`,
  'a closed account has no phone': `
    SELECT id FROM users WHERE closed_at IS NOT NULL AND EXISTS (SELECT FROM phones WHERE user_id = id)`,
};

/** Holds on several servers, for memberships that the operations have made. */
const NOTED = {
  'a membership is noted by its user': `
    SELECT member_id || ' in ' || group_id AS id FROM group_members
     WHERE NOT EXISTS (SELECT FROM user_groups own
                        WHERE own.user_id = member_id AND own.group_id = group_members.group_id)`,
};

const broken = Object.entries(otherServers().length > 0 ? { ...RULES, ...NOTED } : RULES)
  .map(([rule, statement]) => `SELECT '${rule}' AS rule, id::text FROM (${statement}) AS found`)
  .join(' UNION ALL ');

/** Maximum groups that a user may be in, and may have made. */
export interface MostGroups {
  joined: number;
  made: number;
}

/**
 * Returns a sentence for each broken rule. All rules are checked in one statement, so in one snapshot. Several servers have
 * no snapshot of all: there the rules are checked in copies, and only once nothing is written any more.
 */
export async function brokenRules(db: Knex, most: MostGroups, isQuiet: boolean): Promise<string[]> {
  const ask = async (on: Knex) => (await on.raw<{ rows: { rule: string; id: string }[] }>(broken, { ...most })).rows;
  const told = (rows: { rule: string; id: string }[]) => rows.map(({ rule, id }) => `${rule}: not ${id}`);
  if (otherServers().length === 0) return told(await ask(db));
  if (!isQuiet) return [];
  return db.transaction(async (trx) => {
    await copyDistributed((sql) => trx.raw(sql));
    return told(await ask(trx));
  });
}

/** Returns dismissed groups and closed accounts whose rows are not ended yet. In the end there are none. */
export async function pendingEnds(db: Knex): Promise<string[]> {
  const groups = await db('group_dismissals').pluck<string[]>('group_id');
  return [...groups, ...(await db('account_closings').pluck<string[]>('user_id'))];
}
