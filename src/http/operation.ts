import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { Caller } from '../base/caller';
import { NotSignedIn } from '../base/errors';
import type { Reason } from '../base/reasons';
import type { OwnerReads } from '../database/owner-reads';
import { LIMITS, type LimitName } from '../load/limits';
import { callerOf } from './caller-of';
import type { Streamed } from './json-stream';
import type { DeferredAnswer } from './waiting-answers';

/** Arguments of a handler besides its input. `req` and `res` are for handlers that set a cookie or need the address. */
export class Call {
  /** Input, parsed once: a request that waits keeps it, but not its body, of which most may be unknown fields. */
  input: object | undefined;
  /** Set once the answer waits for a change. */
  waited: DeferredAnswer | undefined;

  constructor(
    readonly req: Request,
    readonly res: Response,
  ) {}

  get caller(): Caller {
    return callerOf(this.req);
  }
}

/** Session of a request. */
export interface OwnSession {
  userId: string;
  sid: string;
  /** Version of the account when the session was found. */
  credentialsVersion: number;
}

export class UserCall extends Call {
  get userId(): string {
    return this.session.userId;
  }

  get session(): OwnSession {
    if (this.req.signedIn === undefined) throw new NotSignedIn();
    return this.req.signedIn;
  }
}

/** Call whose session and user are known only after the first read. */
export class ReaderCall extends UserCall {
  get reads(): OwnerReads {
    if (this.req.reads === undefined) throw new NotSignedIn();
    return this.req.reads;
  }
}

/**
 * Callers, and the call that a handler gets: anyone; a visitor, for whom a session is loaded or prepared; a user, whose
 * session was found; a reader, whose session is found by the first statement that runs on `reads`.
 */
export const CALLS = { anyone: Call, visitor: Call, user: UserCall, reader: ReaderCall };

type Access = keyof typeof CALLS;

declare module 'express-serve-static-core' {
  interface Request {
    /** Reads that find the session first. */
    reads?: OwnerReads | undefined;
    /** Set when the session of a user has been found. */
    signedIn?: OwnSession;
  }
}

/** A limit, and how much a request counts: 1 by default. */
export type CallerLimit<Input> = LimitName | readonly [LimitName, (input: Input, subject: string) => number];

interface Description<A extends Access, Params, Body, Result> {
  path: `/${string}/${string}`;
  /** One sentence, for the documentation. */
  summary: string;
  access: A;
  /** Whether it reads the session of a request that has one, though it needs none. */
  knowsSession?: true;
  params?: z.ZodType<Params>;
  body?: z.ZodType<Body>;
  /** Optional body, instead of `body`. A body that is not a JSON object counts as one without options. */
  options?: z.ZodType<Body>;
  /** Result; without it the answer is `{ code: 200 }`. */
  result?: z.ZodType<Result>;
  /** Cookies of a 200: always set, or sometimes. */
  cookies?: { sets: string; always: boolean };
  /** Reasons of refusals, besides COMMON_REASONS and those of its limits and its queue. */
  refusals?: readonly Reason[];
  /**
   * Queue: 'writes' for changes to data of the user, so that a locked row delays no other user; 'heavyReads' for reads
   * of a whole list of the user; 'exports' for reads of everything.
   */
  queue?: 'writes' | 'heavyReads' | 'exports';
  /** Longest time that others need for it, which its deadline allows beside the usual time. */
  othersMs?: number;
  /** Limits that each request counts against, per user or, where anyone may call, per address, whatever the outcome. */
  limits?: readonly CallerLimit<Params & Body>[];
}

/** An operation, for the router, the tests and the documentation. */
export interface Operation extends Omit<Description<Access, unknown, unknown, unknown>, 'limits'> {
  limits?: readonly CallerLimit<never>[];
  refusals: readonly Reason[];
  streams: boolean;
  /** File name under which a browser saves the answer. */
  file?: string;
  answer: (input: never, call: never) => Promise<unknown>;
}

type Handler<A extends Access, Input, Result> = (
  input: Input,
  call: InstanceType<(typeof CALLS)[A]>,
) => Promise<Result>;

/** `Given`, but with `never` for each field that is not in `Wanted`. */
type Exactly<Wanted, Returned> = Returned extends readonly (infer ReturnedItem)[]
  ? Wanted extends readonly (infer WantedItem)[]
    ? Exactly<WantedItem, ReturnedItem>[]
    : never
  : Returned extends object
    ? { [Field in keyof Returned]: Field extends keyof Wanted ? Exactly<Wanted[Field], Returned[Field]> : never }
    : Returned;

/** Describes a POST. A result with a field that its schema does not have does not compile. */
export function operation<A extends Access, Params, Body, Result = void, Returned extends Result = Result>({
  handle,
  ...description
}: Description<A, Params, Body, Result> & {
  handle: Handler<A, Params & Body, Returned & Exactly<Result, Returned>>;
}): Operation {
  return { ...description, refusals: refusalsOf(description), streams: false, answer: handle };
}

/** Describes an operation whose answer is too large to hold in memory: its lists may come in pages. */
export function streamedOperation<A extends Access, Params, Body, Result>({
  stream,
  ...description
}: Description<A, Params, Body, Result> & {
  file?: string;
  stream: Handler<A, Params & Body, Streamed<Result> | DeferredAnswer>;
}): Operation {
  return { ...description, refusals: refusalsOf(description), streams: true, answer: stream };
}

type Refusing = Partial<Pick<Operation, 'refusals' | 'limits' | 'queue'>>;

function refusalsOf({ refusals = [], limits = [], queue }: Refusing): Reason[] {
  const ofLimits = limits.map((limit) => LIMITS[nameOf(limit)].refusal(0, Infinity).reason);
  const ofQueue: Reason[] = queue === undefined || queue === 'writes' ? [] : ['too_many_at_once'];
  return [...new Set([...refusals, ...ofLimits, ...ofQueue])];
}

export function nameOf(limit: CallerLimit<never>): LimitName {
  return typeof limit === 'string' ? limit : limit[0];
}
