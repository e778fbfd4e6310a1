import type { Client } from 'pg';
import type { Reception } from './receiver';

/** Returns what a receiver that keeps a list believes in the end, by what each entry is of. */
export function lastTold(received: Pick<Reception, 'id' | 'type' | 'data'>[]): [string, string][] {
  const seen = new Set<string>();
  const last = new Map<string, string>();
  for (const { id, type, data } of received) {
    const told = STATES_TOLD[type]?.(data);
    if (!seen.has(id) && told && told.what !== '') last.set(told.key, told.what);
    seen.add(id);
  }
  return [...last];
}

type StateTold = (data: Record<string, string>) => { key: string; what: string };
const isOf = (key: string, what = ''): ReturnType<StateTold> => ({ key, what });

/** States that events tell. Others only say that something has changed. */
const STATES_TOLD: Record<string, StateTold> = {
  'members.changed': ({ groupId, memberId, what }) => isOf(`member ${groupId} ${memberId}`, what),
  'blacklist.changed': ({ userId, friendId, what }) => isOf(`blacklist ${userId} ${friendId}`, what),
  'user.suspended': ({ userId }) => isOf(`suspended ${userId}`, 'user.suspended'),
  'user.restored': ({ userId }) => isOf(`suspended ${userId}`, 'user.restored'),
};

const STATES_NOW = `
  SELECT concat_ws(' ', 'member', group_id, member_id) AS key, CASE WHEN is_deleted THEN 'left' ELSE 'joined' END AS what
    FROM group_members
   UNION ALL
  SELECT concat_ws(' ', 'blacklist', user_id, friend_id), CASE WHEN status THEN 'added' ELSE 'removed' END FROM blacklist
   UNION ALL
  SELECT concat_ws(' ', 'suspended', id), CASE WHEN suspended_at IS NULL THEN 'user.restored' ELSE 'user.suspended' END
    FROM users`;

/** Returns the same of the database. */
export async function statesIn(client: Client): Promise<Map<string, string>> {
  const { rows } = await client.query<{ key: string; what: string }>(STATES_NOW);
  return new Map(rows.map(({ key, what }) => [key, what]));
}
