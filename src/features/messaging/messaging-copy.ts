import type { Knex } from 'knex';
import { statement } from '../../database/statement';
import { ALL_OF } from '../../integrations/messaging/messaging-provider';
import { COPY, enterChanges } from './messaging-changes-repository';

/** The next users, and after them groups, by their ids. */
interface Cursor {
  stage: number;
  after: string;
}

const [OF_USERS, OF_GROUPS] = [0, 1];
/** Users or groups of one step. */
const STEP = 100;
/** Due turns at which the copy waits, so that changes are told soon. */
const MOST_DUE = 20;
/** Turns at which it waits, also those of users whom the provider refuses. */
const MOST_TURNS = 1_000;

const begin = statement(
  'begin-messaging-copy',
  `INSERT INTO event_readers (name, version, number, subject) VALUES ('${COPY}', 0, ${OF_USERS}, '')
   ON CONFLICT (name) DO UPDATE SET number = ${OF_USERS}, subject = ''`,
);

const show = statement<Cursor>(
  'show-messaging-copy',
  `SELECT number AS stage, subject AS after FROM event_readers WHERE name = '${COPY}'`,
);

/** Returns nothing while another instance goes on with the copy, or while others have to be told first. */
const take = statement<Cursor>(
  'take-messaging-copy',
  `SELECT number AS stage, subject AS after FROM event_readers
    WHERE name = '${COPY}'
      AND (SELECT count(*) < ${MOST_TURNS} AND count(*) FILTER (WHERE due_at <= now()) < ${MOST_DUE}
             FROM (SELECT due_at FROM messaging_turns ORDER BY due_at LIMIT ${MOST_TURNS}) AS waiting)
      FOR UPDATE SKIP LOCKED`,
);

const move = statement<unknown, keyof Cursor>(
  'move-messaging-copy',
  `UPDATE event_readers SET number = :stage::integer, subject = :after WHERE name = '${COPY}'`,
);

const end = statement('end-messaging-copy', `DELETE FROM event_readers WHERE name = '${COPY}'`);

interface Original {
  id: string;
  isCopied: boolean;
}

/** Whether a messaging server has something of a user. It learns of all others when they get a token. */
export const COPIED_USER = `(EXISTS (SELECT FROM messaging_tokens WHERE user_id = users.id)
       OR EXISTS (SELECT FROM blacklist WHERE user_id = users.id))`;
/** Without the dismissed ones: a server may refuse a group that it does not know. */
export const COPIED_GROUP = '(dismissed_at IS NULL)';

const nextUsers = statement<Original, 'after'>(
  'next-users-to-copy',
  // LIMIT keeps PostgreSQL from reading both tables whole for a step.
  `SELECT id, (SELECT true FROM messaging_tokens WHERE user_id = users.id LIMIT 1) IS TRUE
           OR (SELECT true FROM blacklist WHERE user_id = users.id LIMIT 1) IS TRUE AS "isCopied"
     FROM users WHERE id > :after ORDER BY id LIMIT ${STEP}`,
  { distributed: `SELECT id, ${COPIED_USER} AS "isCopied" FROM users WHERE id > :after ORDER BY id LIMIT ${STEP}` },
);

const nextGroups = statement<Original, 'after'>(
  'next-groups-to-copy',
  `SELECT id, ${COPIED_GROUP} AS "isCopied" FROM groups WHERE id > :after ORDER BY id LIMIT ${STEP}`,
);

/**
 * Tells the messaging provider of all users and groups as they are, in small steps. Its cursor is a row, so that any
 * instance goes on with it.
 */
export class MessagingCopy {
  constructor(private readonly db: Knex) {}

  /** Begins with the first user, also if it has come further already. */
  async begin(): Promise<void> {
    await begin(this.db, {});
  }

  /** Returns what it comes to next, or undefined if there is none. */
  async cursor(): Promise<{ of: 'users' | 'groups'; after: string } | undefined> {
    const [cursor] = await show(this.db, {});
    return cursor && { of: cursor.stage === OF_USERS ? 'users' : 'groups', after: cursor.after };
  }

  /** Makes a step. Returns false if it cannot now. */
  goOn(): Promise<boolean> {
    return this.db.transaction(async (trx) => {
      const [cursor] = await take(trx, {});
      if (!cursor) return false;
      const [next, kind] = cursor.stage === OF_USERS ? [nextUsers, ALL_OF.user] : [nextGroups, ALL_OF.group];
      const originals = await next(trx, { after: cursor.after });
      const subjects = originals.filter(({ isCopied }) => isCopied).map(({ id }) => id);
      await enterChanges(trx, { kind, subjects });
      const after = originals.length === STEP ? originals.at(-1)?.id : undefined;
      if (after !== undefined) await move(trx, { ...cursor, after });
      else if (cursor.stage === OF_USERS) await move(trx, { stage: OF_GROUPS, after: '' });
      else await end(trx, {});
      return true;
    });
  }
}
