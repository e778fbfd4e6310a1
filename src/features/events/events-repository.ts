import type { Knex } from 'knex';
import { deleteInBatches } from '../../database/delete-in-batches';
import { isoTime, statement } from '../../database/statement';

/** A change, as migrations/0027_events tells of it. */
export interface Event {
  version: number;
  number: number;
  /** The user or the group. */
  subject: string;
  kind: string;
  /** Another user whom the change concerns, or empty. */
  other: string;
  /** More of it, or empty. */
  what: string;
  at: string;
}

/** Position of an event in the order of all. */
export type Cursor = Pick<Event, 'version' | 'number' | 'subject'>;

/** Events of these kinds are of a group. All others are of a user. */
export const GROUP_KINDS = ['group.created', 'group.changed', 'group.dismissed', 'members.changed'];

/** The number of a user was claimed, and kept. No trigger tells of these. */
export const CLAIM_KINDS = ['phone.claimed', 'phone.kept'];

/** A login by a code began a session on a device that is new to the account. No trigger tells of it. */
export const NEW_DEVICE = 'session.new_device';

export const MOST_EVENTS = 1_000;

/** Above the horizon an event may still be missing between two others. */
const AFTER = `SELECT version, number, subject, kind, other, what, ${isoTime('at')} AS at FROM events
    WHERE (version, number, subject) > (:version::bigint, :number::integer, :subject)
      AND version <= (SELECT sync_horizon())`;

const IN_ORDER = 'ORDER BY version, number, subject';

export const eventsAfter = statement<Event, keyof Cursor>('events-after', `${AFTER} ${IN_ORDER} LIMIT ${MOST_EVENTS}`);

/** The first event of these kinds, or of all, and of another subject than one. */
export const firstAfter = statement<Event, keyof Cursor | 'kinds' | 'but'>(
  'first-event-after',
  `${AFTER} AND (:kinds::text[] = '{}' OR kind = ANY (:kinds::text[])) AND events.subject <> :but ${IN_ORDER} LIMIT 1`,
);

const tell = statement<unknown, 'kind' | 'subject'>('tell', 'SELECT tell(:kind, :subject)');

const gather = statement<unknown, 'horizon'>('gather-events', 'SELECT gather_events(:horizon::bigint)');

export class EventsRepository {
  constructor(private readonly db: Knex) {}

  /** Tells of what no trigger does. */
  async tell(kind: string, subject: string): Promise<void> {
    await tell(this.db, { kind, subject });
  }

  /** Takes over the events that several servers have written, up to their horizon. Readers find none above. */
  async gather(horizon: number): Promise<void> {
    await gather(this.db, { horizon });
  }

  /** By time, since a version does not tell how old it is. */
  async sweep(days: number): Promise<void> {
    await deleteInBatches(this.db, 'events', 'at < now() - make_interval(days => ?)', [days]);
  }
}
