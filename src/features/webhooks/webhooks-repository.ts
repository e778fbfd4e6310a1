import type { Knex } from 'knex';
import { LeaseStatements } from '../../database/lease-statements';
import { isoTime, statement } from '../../database/statement';
import type { Cursor } from '../events/events-repository';

/** The lease of a webhook, for the instance that took it. */
export interface WebhookLease extends Cursor {
  id: string;
  url: string;
  /** Kinds of the events that it is told. Empty: all. */
  kinds: string[];
  secrets: string[];
  /** Number of the lease. An instance with an older number has lost it. */
  turn: number;
  /** Counts how often it was taken without success. */
  attempts: number;
  /** Whether it has failed for a day. */
  isOverdue: boolean;
  /** Time of the database's clock, in milliseconds since 1970. */
  now: number;
}

interface PutOff {
  isPaused: boolean;
  attempts: number;
}

type TestedReceiver = Pick<WebhookLease, 'url' | 'secrets' | 'now'>;

/** A webhook as operators see it, without its secrets. */
export interface ListedWebhook {
  id: string;
  url: string;
  kinds: string;
  state: 'told' | 'failing' | 'paused';
  createdAt: string;
  /** Its last event, and how many seconds old its next one is. */
  last: string;
  behind: number;
  since: string | null;
  failure: string;
  /** Events that were set aside: id, time and reason of each. */
  setAside: string;
}

/** Longer than a message may take. An instance renews it whenever it notes the cursor. */
export const LEASE = new LeaseStatements({
  table: 'webhooks',
  key: 'id',
  held: 'id = :id AND turn = :turn::bigint AND paused_at IS NULL',
  seconds: 30,
  pauses: [2, 600],
  patience: '24 hours',
});
/** Hours for which the secret before still signs. */
const OLD_SECRET_HOURS = 24;

const AFTER_ITS_LAST = `(events.version, events.number, events.subject)
                     > (webhooks.version, webhooks.number, webhooks.subject) AND events.version <= (SELECT sync_horizon())`;

const NOW = '(extract(epoch FROM now()) * 1000)::float8';

const SECRETS = 'array_remove(ARRAY[secret, CASE WHEN old_secret_until > now() THEN old_secret END], NULL)';

const take = statement<WebhookLease, 'most'>(
  'take-webhooks',
  LEASE.take({
    and: `AND paused_at IS NULL AND EXISTS (SELECT FROM events WHERE ${AFTER_ITS_LAST})`,
    set: ['turn = turn + 1'],
    returning: `id, url, kinds, version, number, subject, turn, attempts, ${SECRETS} AS secrets, ${NOW} AS now,
                coalesce(failing_since < ${LEASE.tooOld}, false) AS "isOverdue"`,
  }),
);

type Held = 'id' | 'turn';

const MOVED = 'version = :version::bigint, number = :number::integer, subject = :subject';
const WELL = "failing_since = NULL, last_failure = ''";

const move = statement<{ id: string }, Held | keyof Cursor>(
  'move-webhook',
  `${LEASE.renew(MOVED, WELL, 'attempts = 1')} RETURNING id`,
);

const skip = statement<{ id: string }, Held | keyof Cursor>('skip-webhook', `${LEASE.renew(MOVED)} RETURNING id`);

const renew = statement<{ id: string }, Held>('renew-webhook', `${LEASE.renew()} RETURNING id`);

const release = statement<unknown, Held>('release-webhook', LEASE.release());

const ASIDE = "jsonb_build_object('id', :event::text, 'at', now(), 'reason', :reason::text)";

/** It has failed for a day until it takes an event by itself: the next ones that it refuses are set aside at once. */
const setAside = statement<{ id: string }, Held | keyof Cursor | 'event' | 'reason'>(
  'set-webhook-event-aside',
  `${LEASE.release(MOVED, `set_aside = set_aside || ${ASIDE}`)} RETURNING id`,
);

const FAILING = 'last_failure = :failure, failing_since = coalesce(failing_since, now())';
const PAUSED = 'paused_at = CASE WHEN :isOver::boolean THEN now() END';

const putOff = statement<PutOff, Held | 'failure' | 'isOver'>(
  'put-off-webhook',
  `${LEASE.putOff(FAILING, PAUSED)} RETURNING paused_at IS NOT NULL AS "isPaused", attempts`,
);

const add = statement<unknown, 'id' | 'url' | 'kinds' | 'secret'>(
  'add-webhook',
  `INSERT INTO webhooks (id, url, kinds, secret, version, number, subject)
   VALUES (:id, :url, :kinds::text[], :secret, sync_horizon(), ${2 ** 31 - 1}, '')`,
);

const STATE = `CASE WHEN paused_at IS NOT NULL THEN 'paused' WHEN failing_since IS NOT NULL THEN 'failing' ELSE 'told' END`;
/** Age of the first event that it was not told, in seconds. */
const BEHIND = `coalesce((SELECT extract(epoch FROM now() - at) FROM events WHERE ${AFTER_ITS_LAST}
                           ORDER BY events.version, events.number, events.subject LIMIT 1), 0)`;

const list = statement<ListedWebhook, 'id'>(
  'list-webhooks',
  `SELECT id, url, array_to_string(kinds, ' ') AS kinds,
          ${STATE} AS state,
          ${isoTime('created_at')} AS "createdAt", concat_ws('-', version, number, subject) AS last,
          ${BEHIND}::integer AS behind,
          ${isoTime('coalesce(paused_at, failing_since)')} AS since, last_failure AS failure,
          coalesce((SELECT string_agg(concat_ws(' ', one ->> 'id', one ->> 'at', one ->> 'reason'), '; ')
                      FROM jsonb_array_elements(set_aside) AS one), '') AS "setAside"
     FROM webhooks WHERE :id::text IN (id, '') ORDER BY webhooks.created_at, id`,
);

const states = statement<{ state: string; count: number; seconds: number }>(
  'webhook-states',
  `SELECT ${STATE} AS state, count(*)::integer AS count, max(${BEHIND})::float8 AS seconds FROM webhooks GROUP BY 1`,
);

const receiverOf = statement<TestedReceiver, 'id'>(
  'webhook-receiver',
  `SELECT url, ${SECRETS} AS secrets, ${NOW} AS now FROM webhooks WHERE id = :id`,
);

const pause = statement<{ id: string }, 'id'>(
  'pause-webhook',
  'UPDATE webhooks SET paused_at = now() WHERE id = :id AND paused_at IS NULL RETURNING id',
);

const resume = statement<{ id: string }, 'id'>(
  'resume-webhook',
  `UPDATE webhooks SET paused_at = NULL, ${WELL}, due_at = now(), attempts = 0,
          turn = turn + 1
    WHERE id = :id AND paused_at IS NOT NULL RETURNING id`,
);

const remove = statement<{ id: string }, 'id'>('remove-webhook', 'DELETE FROM webhooks WHERE id = :id RETURNING id');

/** Returns SQL for the events that were set aside, but those for which the condition is false. */
const asideWhere = (condition: string) =>
  `(SELECT coalesce(jsonb_agg(one), '[]') FROM jsonb_array_elements(set_aside) AS one WHERE ${condition})`;
const CURSOR_OF_ASIDE = `(split_part(one ->> 'id', '-', 1)::bigint, split_part(one ->> 'id', '-', 2)::integer)`;

/** It is told those again that were set aside after this cursor. */
const replay = statement<{ id: string }, 'id' | 'version' | 'number'>(
  'replay-webhook',
  `UPDATE webhooks SET version = :version::bigint, number = :number::integer, subject = '', due_at = now(),
          turn = turn + 1, set_aside = ${asideWhere(`${CURSOR_OF_ASIDE} < (:version::bigint, :number::integer)`)}
    WHERE id = :id RETURNING id`,
);

const takeUp = statement<unknown, 'id' | 'event'>(
  'take-webhook-event-up',
  `UPDATE webhooks SET set_aside = ${asideWhere(`one ->> 'id' <> :event`)} WHERE id = :id`,
);

const renewSecret = statement<{ id: string }, 'id' | 'secret'>(
  'renew-webhook-secret',
  `UPDATE webhooks SET old_secret = secret, old_secret_until = now() + interval '${OLD_SECRET_HOURS} hours',
          secret = :secret
    WHERE id = :id RETURNING id`,
);

/** Webhooks, each with the cursor of its last event. */
export class WebhooksRepository {
  constructor(private readonly db: Knex) {}

  /** Returns some that have new events, and that no other instance is telling now. */
  take(most: number): Promise<WebhookLease[]> {
    return take(this.db, { most });
  }

  /** Notes that it was told up to this event. Returns false if another instance has taken it, or it was paused. */
  async move({ id, turn }: WebhookLease, { version, number, subject }: Cursor): Promise<boolean> {
    return (await move(this.db, { id, turn, version, number, subject })).length > 0;
  }

  /** Like `move`, but it was told nothing: the events up to this one are of kinds that it does not want. */
  async skip({ id, turn }: WebhookLease, { version, number, subject }: Cursor): Promise<boolean> {
    return (await skip(this.db, { id, turn, version, number, subject })).length > 0;
  }

  /** For more messages under a lease. Returns false if another instance has taken it, or it was paused. */
  async renew({ id, turn }: WebhookLease): Promise<boolean> {
    return (await renew(this.db, { id, turn })).length > 0;
  }

  /** Goes on after this cursor. One event before it is told again only when an operator wants. Returns false if it was lost. */
  async setAside(
    { id, turn }: WebhookLease,
    { version, number, subject }: Cursor,
    { event, reason }: Record<'event' | 'reason', string>,
  ): Promise<boolean> {
    return (await setAside(this.db, { id, turn, version, number, subject, event, reason })).length > 0;
  }

  /** Forgets that this event was set aside. */
  async takeUp(id: string, event: string): Promise<void> {
    await takeUp(this.db, { id, event });
  }

  async release({ id, turn }: WebhookLease): Promise<void> {
    await release(this.db, { id, turn });
  }

  /** Lets it wait longer after each failure, or pauses it when it is over. Returns whether it is paused now, and its attempts since the last success. */
  async putOff({ id, turn, attempts }: WebhookLease, failure: string, isOver: boolean): Promise<PutOff> {
    const [put] = await putOff(this.db, { id, turn, failure, isOver });
    return put ?? { isPaused: false, attempts };
  }

  /** Adds one that is told of events from now on. */
  async add(webhook: { id: string; url: string; kinds: string[]; secret: string }): Promise<void> {
    await add(this.db, webhook);
  }

  list(): Promise<ListedWebhook[]> {
    return list(this.db, { id: '' });
  }

  /** Returns how many are in each state, and for how long the oldest event of one of them waits. */
  states(): Promise<{ state: string; count: number; seconds: number }[]> {
    return states(this.db, {});
  }

  async find(id: string): Promise<ListedWebhook | undefined> {
    const [found] = id === '' ? [] : await list(this.db, { id });
    return found;
  }

  async receiver(id: string): Promise<TestedReceiver | undefined> {
    const [found] = await receiverOf(this.db, { id });
    return found;
  }

  async pause(id: string): Promise<boolean> {
    return (await pause(this.db, { id })).length > 0;
  }

  async resume(id: string): Promise<boolean> {
    return (await resume(this.db, { id })).length > 0;
  }

  async remove(id: string): Promise<boolean> {
    return (await remove(this.db, { id })).length > 0;
  }

  /** Tells it again, from this event on. */
  async replay(id: string, { version, number }: Pick<Cursor, 'version' | 'number'>): Promise<void> {
    await replay(this.db, { id, version, number });
  }

  async renewSecret(id: string, secret: string): Promise<void> {
    await renewSecret(this.db, { id, secret });
  }
}
