import { isoTime, statement, type Source } from '../database/statement';
import { masked } from '../features/phones/phone-number';
import { addNames } from '../features/users/names';

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

/** Maximum accounts that a search shows, so that a token of support does not read all of them by few calls. */
export const MOST_FOUND = 5;

/** Maximum rows of an answer. */
export const MOST_ROWS = 50;

/** Character after all those of ids and phones, which compare by bytes. */
const AFTER_ALL = `'{'`;
const BEGINS = (column: string) => `${column} >= :text::text AND ${column} < :text::text || ${AFTER_ALL}`;

export const STATE = `CASE WHEN closed_at IS NOT NULL THEN 'closed' WHEN suspended_at IS NOT NULL THEN 'suspended' ELSE 'open' END`;

const idsFound = statement<{ id: string }, 'text'>(
  'support-ids-found',
  `SELECT id FROM users WHERE ${BEGINS('id')} ORDER BY id LIMIT ${MOST_FOUND}`,
);

const ownersFound = statement<{ id: string }, 'text'>(
  'support-owners-found',
  `SELECT user_id AS id FROM phones WHERE ${BEGINS('phone')} ORDER BY phone LIMIT ${MOST_FOUND}`,
);

const accountsOf = statement<Omit<FoundAccount, 'phones'>, 'ids'>(
  'support-accounts',
  `SELECT id, nickname, ${STATE} AS state, ${isoTime('created_at')} AS "createdAt"
     FROM users WHERE id = ANY (:ids::text[]) ORDER BY id`,
);

export const phonesOf = statement<{ id: string; phone: string }, 'ids'>(
  'support-phones',
  'SELECT user_id AS id, phone FROM phones WHERE user_id = ANY (:ids::text[]) ORDER BY phone',
);

/** Finds ids and phones by their beginning, and shows phones masked. Finds each by the index of its key. No phone begins like an id. */
export async function accountsFound(db: Source, text: string): Promise<FoundAccount[]> {
  const found = [...(await idsFound(db, { text })), ...(await ownersFound(db, { text }))];
  const ids = found.map(({ id }) => id);
  const phones = await phonesOf(db, { ids });
  const phonesIn = (user: string) => phones.filter(({ id }) => id === user).map(({ phone }) => masked(phone));
  return (await accountsOf(db, { ids })).map((account) => ({ ...account, phones: phonesIn(account.id).join(' ') }));
}

export const groupFound = statement<FoundGroup, 'id'>(
  'support-group',
  `SELECT id, name, CASE WHEN dismissed_at IS NULL THEN 'open' ELSE 'dismissed' END AS state,
          creator_id AS "creatorId", made_by AS "madeBy",
          CASE WHEN dismissed_at IS NULL THEN size.members ELSE 0 END AS members,
          portrait_uri AS "portraitUri", bulletin
     FROM groups JOIN group_sizes size ON size.group_id = id WHERE id = :id`,
);

/** The creator and managers first. */
const membersOf = statement<Omit<FoundMember, 'nickname'>, 'groupId'>(
  'support-members',
  `SELECT member_id AS id, display_name AS "displayName",
          CASE role WHEN 0 THEN 'creator' WHEN 2 THEN 'manager' ELSE 'member' END AS role,
          ${isoTime('coalesce(joined_at, updated_at)')} AS since
     FROM group_members WHERE group_id = :groupId AND NOT is_deleted
    ORDER BY group_members.role = 1, group_members.role, member_id LIMIT ${MOST_ROWS}`,
);

export async function membersFound(db: Source, groupId: string): Promise<FoundMember[]> {
  const named = await addNames(db, await membersOf(db, { groupId }));
  return named.map(({ id, nickname, displayName, role, since }) => ({ id, nickname, displayName, role, since }));
}
