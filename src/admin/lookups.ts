import { shown, statement } from '../database/statement';
import { joinNames } from '../features/users/names';
import { MOST_ROWS } from './rows';

/** Statements by which support looks for accounts, groups and images. */

export interface FoundAccount {
  id: string;
  nickname: string;
  state: string;
  createdAt: string;
  phones: string;
}

export interface FoundGroup {
  id: string;
  name: string;
  state: 'open' | 'dismissed';
  creatorId: string;
  madeBy: string;
  members: number;
  portraitUri: string;
  bulletin: string;
}

export interface FoundMember {
  id: string;
  nickname: string;
  displayName: string;
  role: string;
  since: string;
}

/** Character after all those of ids and phones, which compare by bytes. */
const AFTER_ALL = `'{'`;
const BEGINS = (column: string) => `${column} >= :text::text AND ${column} < :text::text || ${AFTER_ALL}`;

export const STATE = `CASE WHEN closed_at IS NOT NULL THEN 'closed' WHEN suspended_at IS NOT NULL THEN 'suspended' ELSE 'open' END`;

/** Ids and phones by their beginning, each by the index of its key. No phone begins like an id. */
export const accountsFound = statement<FoundAccount, 'text'>(
  'support-accounts-found',
  `SELECT id, nickname, ${STATE} AS state, ${shown('created_at')} AS "createdAt",
          array_to_string(ARRAY(SELECT phone FROM phones WHERE user_id = users.id ORDER BY 1), ' ') AS phones
     FROM users
    WHERE id = ANY (ARRAY(
      (SELECT id FROM users WHERE ${BEGINS('id')} ORDER BY id LIMIT ${MOST_ROWS})
      UNION ALL
      (SELECT user_id FROM phones WHERE ${BEGINS('phone')} ORDER BY phone LIMIT ${MOST_ROWS})))
    ORDER BY id`,
);

export const groupFound = statement<FoundGroup, 'id'>(
  'support-group',
  `SELECT id, name, CASE WHEN dismissed_at IS NULL THEN 'open' ELSE 'dismissed' END AS state,
          creator_id AS "creatorId", made_by AS "madeBy",
          CASE WHEN dismissed_at IS NULL THEN size.members ELSE 0 END AS members,
          portrait_uri AS "portraitUri", bulletin
     FROM groups JOIN group_sizes size ON size.group_id = id WHERE id = :id`,
);

/** The creator and managers first. */
export const membersFound = statement<FoundMember, 'groupId'>(
  'support-members',
  `SELECT m.id, coalesce(u.nickname, '') AS nickname, m.display_name AS "displayName", m.role, m.since
     FROM (SELECT member_id AS id, display_name,
                  CASE role WHEN 0 THEN 'creator' WHEN 2 THEN 'manager' ELSE 'member' END AS role,
                  ${shown('coalesce(joined_at, updated_at)')} AS since
             FROM group_members WHERE group_id = :groupId AND NOT is_deleted
            ORDER BY group_members.role = 1, group_members.role, member_id LIMIT ${MOST_ROWS}) m
     ${joinNames('m.id')}
    ORDER BY m.role = 'member', m.role, m.id`,
);
