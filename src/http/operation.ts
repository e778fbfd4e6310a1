import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { Caller } from '../base/caller';
import { NotSignedIn } from '../base/errors';
import type { Reason } from '../base/reasons';
import type { OwnerReads } from '../database/owner-reads';
import { LIMITS, type LimitName } from '../load/limits';
import { callerOf } from './caller-of';
import type { Streamed } from './json-stream';

/** What a handler is told beside its input. `req` and `res` are for handlers that set a cookie or need the address. */
export class Call {
  constructor(
    readonly req: Request,
    readonly res: Response,
  ) {}

  get caller(): Caller {
    return callerOf(this.req);
  }
}

/** The session that a request came with. */
export interface OwnSession {
  userId: string;
  sid: string;
  /** Of the account, when the session was found. */
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

/** Its session, and so its user, are known once something has been read. */
export class ReaderCall extends UserCall {
  get reads(): OwnerReads {
    if (this.req.reads === undefined) throw new NotSignedIn();
    return this.req.reads;
  }
}

/**
 * Who may call, and what a handler is called with: anyone; a visitor, for whom a session is loaded or prepared; a user,
 * whose session has been found; a reader, whose session is found by the first statement that runs on `reads`.
 */
export const CALLS = { anyone: Call, visitor: Call, user: UserCall, reader: ReaderCall };

type Access = keyof typeof CALLS;

declare module 'express-serve-static-core' {
  interface Request {
    /** Finds the session with what it reads. */
    reads?: OwnerReads;
    /** Set once the session of a user has been found. */
    signedIn?: OwnSession;
  }
}

/** A limit, and as how many a request counts: 1 unless said. */
export type CallerLimit<Input> = LimitName | readonly [LimitName, (input: Input, subject: string) => number];

interface Description<A extends Access, Params, Body, Result> {
  path: `/${string}/${string}`;
  /** One sentence, for the documentation. */
  summary: string;
  access: A;
  params?: z.ZodType<Params>;
  body?: z.ZodType<Body>;
  /** In place of `body`: what one may ask for. Any other body is ignored, as by an operation that has none. */
  options?: z.ZodType<Body>;
  /** Without one the answer is `{ code: 200 }`. */
  result?: z.ZodType<Result>;
  /** What an answer with 200 sets: always, or at times. */
  cookies?: { sets: string; always: boolean };
  /** Why it refuses, beside COMMON_REASONS and what its limits and its queue say. */
  refusals?: readonly Reason[];
  /**
   * Where it waits for its turn: 'writes' when it changes something of the user's, so that a locked row delays no other user;
   * 'heavyReads' when it reads all that the user has of something; 'exports' when it reads all there is.
   */
  queue?: 'writes' | 'heavyReads' | 'exports';
  /** What it takes of its user, or where anyone may call of the address, whatever comes of it. */
  limits?: readonly CallerLimit<Params & Body>[];
}

/** An operation as the router, the tests and the documentation read it. */
export interface Operation extends Omit<Description<Access, unknown, unknown, unknown>, 'limits'> {
  limits?: readonly CallerLimit<never>[];
  refusals: readonly Reason[];
  streams: boolean;
  /** As what a browser saves the answer. */
  file?: string;
  answer: (input: never, call: never) => Promise<unknown>;
}

type Handler<A extends Access, Input, Result> = (
  input: Input,
  call: InstanceType<(typeof CALLS)[A]>,
) => Promise<Result>;

/** `Given`, but `never` for each field that `Wanted` does not have. */
type Exactly<Wanted, Given> = Given extends readonly (infer GivenItem)[]
  ? Wanted extends readonly (infer WantedItem)[]
    ? Exactly<WantedItem, GivenItem>[]
    : never
  : Given extends object
    ? { [Field in keyof Given]: Field extends keyof Wanted ? Exactly<Wanted[Field], Given[Field]> : never }
    : Given;

/** A POST, described once. A result with a field that its schema does not name does not compile. */
export function operation<A extends Access, Params, Body, Result = void, Given extends Result = Result>({
  handle,
  ...description
}: Description<A, Params, Body, Result> & {
  handle: Handler<A, Params & Body, Given & Exactly<Result, Given>>;
}): Operation {
  return { ...description, refusals: refusalsOf(description), streams: false, answer: handle };
}

/** One whose answer is too large to hold: its lists may come in pages. */
export function streamedOperation<A extends Access, Params, Body, Result>({
  stream,
  ...description
}: Description<A, Params, Body, Result> & {
  file?: string;
  stream: Handler<A, Params & Body, Streamed<Result>>;
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
