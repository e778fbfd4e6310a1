import { availableParallelism } from 'node:os';
import { TooManyRequests, Unavailable } from '../base/errors';
import { Queue, type Rules } from './queue';

const overloaded = (message: string) => () => new Unavailable('overloaded', message);
const tooManyRequests = overloaded('too many requests at once: try again shortly');
const manySync = overloaded('many are synchronising: try again shortly');
const manyWaiting = overloaded('too many are waiting for changes: try again shortly, or call without wait');
const manyPasswords = overloaded('too many passwords are being checked: try again shortly');

const tooManyUploads = () => new Unavailable('uploads_busy', 'too many uploads at once: try again shortly');
const manyImages = () =>
  new Unavailable('uploads_busy', 'too many images at once: try again shortly', { retryAfterSeconds: 10 });

/** Refusal for queues that one sender can fill. */
const tooManyOwn = () =>
  new TooManyRequests('too_many_at_once', 'you have too many of these requests in progress: wait until one has ended', {
    retryAfterSeconds: 5,
  });
const tooManyPasswords = () =>
  new TooManyRequests(
    'too_many_at_once',
    'too many passwords of this account or address are being checked: try again shortly',
    { retryAfterSeconds: 3 },
  );

export interface Row extends Rules {
  /** Description of its jobs, for docs/limits.md. */
  what: string;
}

/** Every queue of an instance. docs/limits.md shows this table for two processors. */
export function queueTable(processors: number) {
  /** Twice the processors: the threads have a low priority, and still get a fair share of a busy machine. */
  const threads = Math.min(8, 2 * processors);
  /** At the default cost, about three seconds of work for each thread. */
  const hashes = 25 * threads;
  /** Half of the processors stay free for everything else. At most two: each takes up to half a gigabyte of memory. */
  const decoders = Math.min(2, Math.max(1, Math.floor(processors / 2)));
  // prettier-ignore
  return {
    /** While a row is locked, each waiting write holds a connection for a second. */
    writes: { what: 'writes of a user',
      per: 'user', share: 2, waiting: 100, refusal: tooManyRequests },
    /** Separate from `writes`, which an attacker with a stolen session could fill. */
    sessionStarts: { what: 'logins that start a session',
      per: 'user', share: 1, waiting: 100, refusal: tooManyRequests },

    heavyReads: { what: 'reads of sync, groups, members, blacklist, friendships and export',
      per: 'user', share: 2, waiting: 8, refusal: tooManyOwn },
    /** An answer that the client has not read yet stays in memory. */
    heavyAnswers: { what: 'answers to the reads above, until the client has read them',
      per: 'user', share: 12, waiting: 0, refusal: tooManyOwn },
    liveSyncs: { what: 'syncs that wait for a change',
      per: 'user', share: 5, waiting: 0, refusal: tooManyOwn },
    /** Bounds the memory that they take. When all slots are taken, the oldest of the heaviest address ends. */
    liveSyncsInAll: { what: 'syncs of all users that wait for a change',
      per: 'address', atOnce: 20_000, share: 10_000, waiting: 0, aborts: 'oldest', refusal: manyWaiting },
    /** A change for thousands must not delay everybody else. */
    liveLooks: { what: 'syncs that have waited, and read what has changed',
      per: 'user', atOnce: 8, share: 2, waiting: Infinity, waitMs: 30_000, refusal: manySync },
    longSyncs: { what: 'sync answers that are sent in pages',
      per: 'user', share: 2, waiting: 0, refusal: tooManyOwn },
    /** One at a time for all clients, so that small requests do not wait long. */
    syncPages: { what: 'pages of a long sync',
      per: 'user', atOnce: 1, waiting: Infinity, waitMs: 30_000, refusal: manySync },
    exports: { what: 'exports',
      per: 'user', share: 1, waiting: 0, refusal: tooManyOwn },
    exportPages: { what: 'pages of an export',
      per: 'user', atOnce: 1, waiting: Infinity, waitMs: 30_000, refusal: tooManyRequests },

    /** A request that has waited finds the token used, and skips hashing. */
    verificationTokens: { what: 'requests with one verification token',
      per: 'token', share: 1, waiting: 20, refusal: tooManyOwn },
    /** The wait is well below a request's deadline: hashing after the deadline is useless. */
    hashing: { what: 'password hashes and comparisons',
      per: 'address', atOnce: threads, waiting: hashes, waitMs: 3_000, refusal: manyPasswords },
    /**
     * A share of the hashing queue. A request beyond it is refused before a database query. An owner has a separate share
     * by a known device or address, a token or a session; strangers use the share of the phone whose password they try.
     */
    passwordsOfAccount: { what: 'requests with a password of one account',
      per: 'account', share: hashes / 4, waiting: 0, refusal: tooManyPasswords },
    passwordsOfAddress: { what: 'requests with a password',
      per: 'address', share: hashes / 4, waiting: 0, refusal: tooManyPasswords },

    /** Pictures need no session. A hundred are drawn in about a second. */
    captchaPictures: { what: 'captchas being drawn, and challenges being made',
      per: 'address', atOnce: 2, waiting: 100, waitMs: 3_000, refusal: tooManyRequests },
    captchaChecks: { what: 'captchas being checked by the provider',
      per: 'address', atOnce: 20, share: 5, waiting: 100, waitMs: 1_500, aborts: 'oldest', refusal: tooManyRequests },

    /** Their files occupy the disk until the token arrives. */
    uploadsBeforeToken: { what: 'uploads whose token has not arrived yet',
      per: 'address', atOnce: 64, share: 8, waiting: 0, aborts: 'newest', refusal: tooManyUploads },
    /** SDKs send three or four parts of a file at once. */
    uploadParts: { what: 'parts of resumable uploads being received',
      per: 'user', atOnce: 128, share: 12, waiting: 0, aborts: 'newest', refusal: tooManyUploads },
    uploadFiles: { what: 'resumable uploads being completed',
      per: 'user', atOnce: 128, share: 10, waiting: 0, aborts: 'newest', refusal: tooManyUploads },
    /** The wait ends before a client gives up. */
    decoding: { what: 'images being decoded',
      per: 'user', atOnce: decoders, share: 1, waiting: 50, waitMs: 30_000, leastUsedFirst: 10_000, refusal: manyImages },

    /** In parallel, requests of an IPv6 network would wait for each other on its shared counts, and slow down all counting. */
    counts: { what: 'counts of one limit for one user, phone or network',
      per: 'limit', share: 1, waiting: 10_000, refusal: tooManyRequests },

    /** Few, because they share the connections of the limits. */
    securityEvents: { what: 'security events that are written after the answer',
      per: 'service', atOnce: 2, waiting: 200, refusal: tooManyRequests },
    notices: { what: 'notices to owners',
      per: 'service', atOnce: 4, waiting: 100, refusal: tooManyRequests },
    /** The sweeper later does the work that was refused, failed, or was cut off by a crash. */
    ends: { what: 'dismissed groups and closed accounts whose rows are being ended',
      per: 'service', atOnce: 1, waiting: 100, refusal: tooManyRequests },
  } satisfies Record<string, Row>;
}

export const QUEUES = queueTable(availableParallelism());

export type Queues = Record<keyof typeof QUEUES, Queue>;

/** Opens every queue, for one instance of the service. `patience` is a factor of the longest waits. */
export function openQueues(patience = 1): Queues {
  const open = ({ waitMs, ...rules }: Row) =>
    new Queue(waitMs === undefined ? rules : { ...rules, waitMs: patience * waitMs });
  return Object.fromEntries(Object.entries(QUEUES).map(([name, rules]) => [name, open(rules)])) as Queues;
}
