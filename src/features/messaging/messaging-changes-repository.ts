import type { Knex } from 'knex';
import { LeaseStatements } from '../../database/lease-statements';
import { statement } from '../../database/statement';
import { AGAIN, type Change } from '../../integrations/messaging/messaging-provider';
import { MOST_EVENTS } from '../events/events-repository';

/** The lease of a user's or group's turn, a row of messaging_turns, for the instance that took it. */
export interface TurnLease {
  subject: string;
  /** Counts how often it was taken without success. An instance with another number has lost it. */
  attempts: number;
  /** When its first change came. An instance with another time has lost it. */
  since: string;
}

export interface KeptChange extends Change {
  version: number;
  number: number;
}

type ChangeColumns = 'kinds' | 'others' | 'whats' | 'versions' | 'numbers';

const CHANGES_A_TURN = 500;
/** Time after a call without an answer in which the provider may still do what it was asked. */
const LATE_SECONDS = 30;

/** Name of `MessagingCopy` among the readers of events. */
export const COPY = 'messaging copy';

/** Whether a copy is made equal again later. Not after the database's clock was set back. */
const IS_LATER = `(what = '${AGAIN}' AND at > now() AND at <= now() + interval '${LATE_SECONDS} seconds')`;

/** A turn that has failed, or was taken, stays where it is. One that only waits to look again is due. */
const DUE_FOR_MORE = `CASE messaging_turns.attempts WHEN 0 THEN least(messaging_turns.due_at, now())
                                                          ELSE messaging_turns.due_at END`;

const HELD = 'subject = :subject AND attempts = :attempts::integer AND since = :since::timestamptz';

export const LEASE = new LeaseStatements({
  table: 'messaging_turns',
  key: 'subject',
  held: HELD,
  seconds: 20,
  pauses: [1, 300],
  patience: '3 days',
});

const beginReading = statement(
  'begin-reading-events',
  `INSERT INTO event_readers (name, version, number, subject) VALUES ('messaging', sync_horizon(), 0, '')
   ON CONFLICT DO NOTHING`,
);

/**
 * Locks each turn that it adds to, so that its end waits, and then finds the change. It counts the turns to lock them
 * before the changes, as the end does. An instance that finds the reader locked leaves the work to the other.
 */
const readOn = statement<{ count: number; isCopying: boolean; now: number }, 'kinds'>(
  'read-events-for-messaging',
  `WITH reader AS (SELECT version, number, subject FROM event_readers WHERE name = 'messaging' FOR UPDATE SKIP LOCKED),
        next AS MATERIALIZED (
          SELECT event.* FROM reader CROSS JOIN LATERAL (
            SELECT * FROM events
             WHERE (events.version, events.number, events.subject) > (reader.version, reader.number, reader.subject)
               AND events.version <= (SELECT sync_horizon())
             ORDER BY version, number, subject LIMIT ${MOST_EVENTS}) AS event),
        moved AS (
          UPDATE event_readers SET (version, number, subject) = (last.version, last.number, last.subject)
            FROM (SELECT * FROM next ORDER BY version DESC, number DESC, subject DESC LIMIT 1) AS last
           WHERE name = 'messaging'),
        wanted AS (SELECT * FROM next WHERE kind = ANY (:kinds::text[])),
        turns AS (
          INSERT INTO messaging_turns (subject) SELECT DISTINCT subject FROM wanted ORDER BY subject
          ON CONFLICT (subject) DO UPDATE SET due_at = ${DUE_FOR_MORE}
          RETURNING subject),
        changes AS (
          INSERT INTO messaging_changes (subject, kind, other, what, version, number, at)
          SELECT DISTINCT ON (subject, kind, other, what) subject, kind, other, what, version, number, at FROM wanted
           WHERE (SELECT count(*) FROM turns) > 0
           ORDER BY subject, kind, other, what, version DESC, number DESC
          ON CONFLICT (subject, kind, other, what) DO UPDATE
            SET version = excluded.version, number = excluded.number, at = excluded.at)
   SELECT count(*)::integer AS count, EXISTS (SELECT FROM event_readers WHERE name = '${COPY}') AS "isCopying",
          (extract(epoch FROM now()) * 1000)::float8 AS now
     FROM next`,
);

/**
 * Adds a change that no event tells of. Locks turns before, as the reading of events does. Its number tells it from the
 * same change that is being told now.
 */
export const enterChanges = statement<unknown, 'kind' | 'subjects'>(
  'enter-messaging-changes',
  `WITH turns AS (
          INSERT INTO messaging_turns (subject) SELECT unnest(:subjects::text[]) AS subject ORDER BY subject
          ON CONFLICT (subject) DO UPDATE SET due_at = ${DUE_FOR_MORE}
          RETURNING subject)
   INSERT INTO messaging_changes (subject, kind, other, what, version, number, at)
   SELECT subject, :kind, '', '', sync_horizon(), 0, now() FROM turns
   ON CONFLICT (subject, kind, other, what) DO UPDATE SET number = messaging_changes.number + 1, at = excluded.at`,
);

const takeLeases = statement<TurnLease, 'most'>(
  'take-messaging-turns',
  LEASE.take({ returning: 'subject, attempts, since::text AS since' }),
);

/** For a turn that takes long. */
const renewLease = statement<unknown, keyof TurnLease>('renew-messaging-turn', LEASE.renew());

const changesOf = statement<KeptChange, 'subject'>(
  'messaging-changes-of',
  `SELECT kind, other, what, at, version, number FROM messaging_changes
    WHERE subject = :subject AND NOT ${IS_LATER}
    ORDER BY version, number LIMIT ${CHANGES_A_TURN}`,
);

const lockLease = statement<{ subject: string }, keyof TurnLease>(
  'lock-messaging-turn',
  `SELECT subject FROM messaging_turns WHERE ${HELD} FOR UPDATE`,
);

/** Adds changes again that were told by an instance which had lost the turn. Locks the turn before, like reading events. */
const repeatChanges = statement<unknown, 'subject' | ChangeColumns | 'ats'>(
  'repeat-messaging-changes',
  `WITH turn AS (
          INSERT INTO messaging_turns (subject) VALUES (:subject)
          ON CONFLICT (subject) DO UPDATE SET due_at = ${DUE_FOR_MORE}
          RETURNING subject)
   INSERT INTO messaging_changes (subject, kind, other, what, version, number, at)
   SELECT subject, kind, other, what, version, number + 1, at
     FROM turn, unnest(:kinds::text[], :others::text[], :whats::text[], :versions::bigint[], :numbers::integer[],
                       :ats::timestamptz[]) AS told (kind, other, what, version, number, at)
   ON CONFLICT (subject, kind, other, what) DO UPDATE SET number = messaging_changes.number + 1`,
);

/** Not those that came since. Without an event a change may have a lower version than others. */
const dropChanges = statement<unknown, 'subject' | ChangeColumns>(
  'drop-messaging-changes',
  `DELETE FROM messaging_changes
    WHERE subject = :subject AND (kind, other, what, version, number) IN (
      SELECT * FROM unnest(:kinds::text[], :others::text[], :whats::text[], :versions::bigint[], :numbers::integer[]))`,
);

/**
 * Ends the turn if nothing is left, and otherwise makes it due again: later, if it only waits to look again. Its time is
 * never one that it had before, by which an instance that was frozen would take it for its own.
 */
const endTurn = statement<unknown, 'subject'>(
  'end-messaging-turn',
  `WITH rest AS (
          SELECT CASE WHEN ${IS_LATER} THEN at ELSE now() END AS due_at FROM messaging_changes
           WHERE subject = :subject ORDER BY due_at LIMIT 1),
        due AS (
          UPDATE messaging_turns SET (due_at, attempts, since) = (
                   SELECT rest.due_at, 0, greatest(rest.due_at, messaging_turns.since + interval '1 microsecond') FROM rest)
           WHERE subject = :subject AND EXISTS (SELECT FROM rest))
   DELETE FROM messaging_turns WHERE subject = :subject AND NOT EXISTS (SELECT FROM rest)`,
);

/** Notes that the copies of these changes are to be made equal again. Locks the turn before, like reading events. */
const lookAgain = statement<unknown, 'subject' | 'kinds' | 'others'>(
  'look-again-for-messaging',
  `WITH turn AS (
          INSERT INTO messaging_turns (subject) VALUES (:subject)
          ON CONFLICT (subject) DO UPDATE SET due_at = messaging_turns.due_at
          RETURNING subject)
   INSERT INTO messaging_changes (subject, kind, other, what, version, number, at)
   SELECT DISTINCT subject, kind, other, '${AGAIN}', sync_horizon(), 0, now() + interval '${LATE_SECONDS} seconds'
     FROM turn, unnest(:kinds::text[], :others::text[]) AS told (kind, other)
   ON CONFLICT (subject, kind, other, what) DO UPDATE SET number = messaging_changes.number + 1, at = excluded.at`,
);

const putOff = statement<{ since: Date; tooOld: Date }, keyof TurnLease>(
  'put-off-messaging-turn',
  `${LEASE.putOff()} RETURNING since, ${LEASE.tooOld} AS "tooOld"`,
);

const waiting = statement<{ seconds: number }>(
  'messaging-waiting',
  `WITH turns AS (SELECT since FROM messaging_turns LIMIT 10000),
        unread AS (
          SELECT event.at FROM event_readers AS reader CROSS JOIN LATERAL (
            SELECT at FROM events
             WHERE (events.version, events.number, events.subject) > (reader.version, reader.number, reader.subject)
             ORDER BY version, number, subject LIMIT 1) AS event
           WHERE reader.name = 'messaging')
   SELECT greatest(0, extract(epoch FROM now() - least((SELECT min(since) FROM turns), (SELECT at FROM unread))))::float8
            AS seconds`,
);

/** Changes that the messaging provider must still be told: each user or group has its turn, which one instance leases. */
export class MessagingChangesRepository {
  constructor(private readonly db: Knex) {}

  /** Begins with the events that come from now on. */
  async beginReading(): Promise<void> {
    await beginReading(this.db, {});
  }

  /** Takes over events of these kinds. Returns whether there are more, whether all is being copied, and the time. */
  async readOn(kinds: string[]): Promise<{ isMore: boolean; isCopying: boolean; now: number }> {
    const [read] = await readOn(this.db, { kinds });
    if (!read) throw new Error('the reading of events told nothing');
    const { count, isCopying, now } = read;
    return { isMore: count === MOST_EVENTS, isCopying, now };
  }

  take(most: number): Promise<TurnLease[]> {
    return takeLeases(this.db, { most });
  }

  /** Keeps other instances from the turn, unless one has taken it already. */
  async renew(lease: TurnLease): Promise<void> {
    await renewLease(this.db, { ...lease });
  }

  changes(subject: string): Promise<KeptChange[]> {
    return changesOf(this.db, { subject });
  }

  /** Drops these changes, and ends the turn. If another instance has taken it since, they are told again. */
  async done(lease: TurnLease, delivered: KeptChange[]): Promise<void> {
    const { subject } = lease;
    await this.db.transaction(async (trx) => {
      if ((await lockLease(trx, { ...lease })).length === 0) return this.repeat(trx, subject, delivered);
      await dropChanges(trx, { subject, ...columnsOf(delivered) });
      await endTurn(trx, { subject });
    });
  }

  /**
   * Lets the turn wait longer after each failure. Returns those of its changes that are days old, once it has failed for
   * days. If another instance has taken it since, the changes are told again.
   */
  async putOff(lease: TurnLease, delivered: KeptChange[]): Promise<KeptChange[]> {
    const [put] = await putOff(this.db, { ...lease });
    if (!put) await this.repeat(this.db, lease.subject, delivered);
    return put && put.since < put.tooOld ? delivered.filter(({ at, what }) => at < put.tooOld || what === AGAIN) : [];
  }

  /** Has the copies made equal again by calls that come after all that the provider may still do. */
  async lookAgain(subject: string, delivered: KeptChange[]): Promise<void> {
    const { kinds, others } = columnsOf(delivered);
    await lookAgain(this.db, { subject, kinds, others });
  }

  /** A call of an instance that was frozen may arrive after those of the other one: both looked at different times. */
  private async repeat(on: Knex, subject: string, delivered: KeptChange[]): Promise<void> {
    await repeatChanges(on, { subject, ...columnsOf(delivered), ats: delivered.map(({ at }) => at) });
  }

  /** Returns for how many seconds the oldest change has waited, or the oldest event that is not read. */
  async secondsWaiting(): Promise<number> {
    const [found] = await waiting(this.db, {});
    return found?.seconds ?? 0;
  }
}

function columnsOf(changes: KeptChange[]): Record<ChangeColumns, unknown[]> {
  return {
    kinds: changes.map(({ kind }) => kind),
    others: changes.map(({ other }) => other),
    whats: changes.map(({ what }) => what),
    versions: changes.map(({ version }) => version),
    numbers: changes.map(({ number }) => number),
  };
}
