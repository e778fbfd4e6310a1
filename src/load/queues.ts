import { availableParallelism } from 'node:os';
import { TooManyRequests, Unavailable } from '../base/errors';
import { Queue, type Rules } from './queue';

const overloaded = (message: string) => () => new Unavailable('overloaded', message);
const tooManyRequests = overloaded('too many requests at once: try again shortly');
const manySync = overloaded('many are synchronising: try again shortly');
const manyPasswords = overloaded('too many passwords are being checked: try again shortly');

const tooManyUploads = () => new Unavailable('uploads_busy', 'too many uploads at once: try again shortly');
const manyImages = () =>
  new Unavailable('uploads_busy', 'too many images at once: try again shortly', { retryAfterSeconds: 10 });

/** Where nobody else is the cause. */
const tooManyOwn = () =>
  new TooManyRequests('too_many_at_once', 'you have too many of these under way: let one of them end first', {
    retryAfterSeconds: 5,
  });
const tooManyPasswords = () =>
  new TooManyRequests(
    'too_many_at_once',
    'too many passwords of this account or address are being checked: try again shortly',
    { retryAfterSeconds: 3 },
  );

export interface Row extends Rules {
  /** What waits, for docs/limits.md. */
  what: string;
}

/** Every queue of an instance. docs/limits.md shows this table for two processors. */
export function queueTable(processors: number) {
  /** More than processors. Their priority is low; so many still get a fair share of a busy machine. */
  const threads = Math.min(8, 2 * processors);
  /** At the default cost, about three seconds of work for each thread. */
  const hashes = 25 * threads;
  /** Half of the processors stay free for everything else. Two, because each takes up to half a gigabyte of memory. */
  const decoders = Math.min(2, Math.max(1, Math.floor(processors / 2)));
  // prettier-ignore
  return {
    /** While a row is locked, each of these keeps a connection for a second. */
    writes: { what: 'changes of what the user has',
      per: 'user', share: 2, waiting: 100, refusal: tooManyRequests },
    /** Apart from other writes, which a thief may send. */
    sessionStarts: { what: 'sessions that begin',
      per: 'user', share: 1, waiting: 100, refusal: tooManyRequests },

    heavyReads: { what: 'reads of sync, groups, members, blacklist, friendships and export',
      per: 'user', share: 2, waiting: 8, refusal: tooManyOwn },
    /** What a client does not take is in the memory of the process. */
    heavyAnswers: { what: 'answers to these, until the client has taken them',
      per: 'user', share: 12, waiting: 0, refusal: tooManyOwn },
    longSyncs: { what: 'answers of sync that are sent in pages',
      per: 'user', share: 2, waiting: 0, refusal: tooManyOwn },
    /** One at a time for all clients, so that small requests do not wait long. */
    syncPages: { what: 'pages of a long sync',
      per: 'user', atOnce: 1, waiting: Infinity, waitMs: 30_000, refusal: manySync },
    exports: { what: 'exports',
      per: 'user', share: 1, waiting: 0, refusal: tooManyOwn },
    exportPages: { what: 'pages of an export',
      per: 'user', atOnce: 1, waiting: Infinity, waitMs: 30_000, refusal: tooManyRequests },

    /** A request that has waited finds the token spent, and has nothing hashed. */
    verificationTokens: { what: 'requests with one verification token',
      per: 'token', share: 1, waiting: 20, refusal: tooManyOwn },
    /** Well below the deadline of a request: what is hashed after it helps nobody. */
    hashing: { what: 'passwords that are hashed or compared',
      per: 'address', atOnce: threads, waiting: hashes, waitMs: 3_000, refusal: manyPasswords },
    /**
     * A share of what may wait to be hashed. A request beyond it is refused before the database is asked. An owner has a
     * share by a known device or address, a token or a session; strangers have that of the phone whose password they try.
     */
    passwordsOfAccount: { what: 'requests with a password of one account',
      per: 'account', share: hashes / 4, waiting: 0, refusal: tooManyPasswords },
    passwordsOfAddress: { what: 'requests with a password',
      per: 'address', share: hashes / 4, waiting: 0, refusal: tooManyPasswords },

    /** Anybody can ask for pictures. A hundred are drawn in about a second. */
    captchaPictures: { what: 'captchas that are drawn',
      per: 'address', atOnce: 2, waiting: 100, waitMs: 3_000, refusal: tooManyRequests },
    captchaChecks: { what: 'captchas that the provider checks',
      per: 'address', atOnce: 20, share: 5, waiting: 100, waitMs: 1_500, aborts: 'oldest', refusal: tooManyRequests },

    /** These files lie on the disk meanwhile. */
    uploadsBeforeToken: { what: 'uploads whose token has not come yet',
      per: 'address', atOnce: 64, share: 8, waiting: 0, aborts: 'newest', refusal: tooManyUploads },
    /** SDKs send three or four parts of a file at once. */
    uploadParts: { what: 'parts of uploads that are received',
      per: 'user', atOnce: 128, share: 12, waiting: 0, aborts: 'newest', refusal: tooManyUploads },
    uploadFiles: { what: 'uploads that are put together from parts',
      per: 'user', atOnce: 128, share: 10, waiting: 0, aborts: 'newest', refusal: tooManyUploads },
    /** The wait ends before a client gives up. */
    decoding: { what: 'images that are decoded',
      per: 'user', atOnce: decoders, share: 1, waiting: 50, waitMs: 30_000, leastUsedFirst: 10_000, refusal: manyImages },

    /** At once, requests of an IPv6 network would wait for each other in its common counts, and slow down counting for all. */
    counts: { what: 'counts of one limit, of a user, a phone or a network',
      per: 'limit', share: 1, waiting: 10_000, refusal: tooManyRequests },

    /** Few: they share the connections of the limits. */
    securityEvents: { what: 'security events that no answer waits for',
      per: 'service', atOnce: 2, waiting: 200, refusal: tooManyRequests },
    notices: { what: 'notices to owners',
      per: 'service', atOnce: 4, waiting: 100, refusal: tooManyRequests },
    /** The sweeper does what is left undone. */
    ends: { what: 'dismissed groups and closed accounts whose rows are ended',
      per: 'service', atOnce: 1, waiting: 100, refusal: tooManyRequests },
  } satisfies Record<string, Row>;
}

export const QUEUES = queueTable(availableParallelism());

export type Queues = Record<keyof typeof QUEUES, Queue>;

/** One of each, for one instance of the service. */
export function openQueues(): Queues {
  return Object.fromEntries(Object.entries(QUEUES).map(([name, rules]) => [name, new Queue(rules)])) as Queues;
}
