import type { Request, RequestHandler } from 'express';
import type { Caller } from '../base/caller';
import { BadRequest, MethodNotAllowed } from '../base/errors';
import { Attempt } from '../load/attempt';
import type { LimitName } from '../load/limits';
import type { Leave } from '../load/queue';
import type { Queues } from '../load/queues';
import { body, bodyIfAny, jsonBody, wellFormedBody } from './body';
import { isTooLate } from './deadline';
import type { Fail } from './error-handler';
import { streamJson } from './json-stream';
import { CALLS, nameOf, ReaderCall, UserCall, type Call, type Operation } from './operation';
import { parse } from './parse';
import { PathTree } from './path-tree';
import { handled, chain, ok } from './route';
import { answerLater, DeferredAnswer } from './waiting-answers';

export interface Entrance {
  /** Answers a request at its deadline at the latest, for which others need this time. */
  watch: (othersMs?: number) => RequestHandler;
  /** Lets a request rest, which is not late for that, until the returned function is called. */
  rest: (req: Request) => () => void;
  /** Answers a request that has failed after it has rested. */
  fail: Fail;
  /** Loads or prepares a session. */
  visitor: RequestHandler;
  /** Refuses a request without the session of a user. */
  user: RequestHandler;
  /** Refuses a request without a signed cookie; the session itself is found by the first read. */
  reader: RequestHandler;
  queues: Pick<Queues, 'writes' | 'heavyReads' | 'heavyAnswers' | 'exports'>;
  /** Counts a request of this subject, or refuses it. */
  limiter: {
    take(caller: Caller, ...uses: { limit: LimitName; subject: string; count: number }[]): Promise<unknown>;
  };
}

interface Route {
  path: string;
  handlers: RequestHandler[];
}

/**
 * Routes requests to operations. It finds the handlers of a path by one look into a tree: Express's Router would ask
 * each route in turn, which costs more than the rest of Express.
 */
export function operationsRouter(operations: Operation[], entrance: Entrance): RequestHandler {
  const routes = new PathTree<Route>();
  for (const operation of operations) {
    const handlers = [...before(operation, entrance), answering(operation, entrance)];
    routes.add(operation.path, { path: operation.path, handlers });
  }
  return (req, res, next) => {
    const found = routes.find(req.path);
    if (!found) {
      next();
      return;
    }
    const { path, handlers } = found.entry;
    req.pattern = path;
    if (req.method !== 'POST') throw new MethodNotAllowed('POST');
    req.params = decoded(found.params);
    chain(handlers, req, res, next);
  };
}

function decoded(params: Record<string, string>): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]));
  } catch {
    throw new BadRequest('malformed_path', 'path: cannot be decoded');
  }
}

/** Returns the second segments of the fixed paths under `resource`. No id may equal one of them. */
export function fixedWords(operations: Operation[], resource: string): string[] {
  const words = operations.flatMap(({ path }) => {
    const [, first, second = ''] = path.split('/');
    return first === resource && !second.startsWith(':') ? [second] : [];
  });
  return [...new Set(words)];
}

/**
 * Returns the handlers in the order of refusals: unknown path or method, body too large or malformed, no session, wrong
 * fields.
 */
function before(operation: Operation, entrance: Entrance): RequestHandler[] {
  const { access, othersMs } = operation;
  return [
    entrance.watch(othersMs),
    ...body,
    ...(operation.body ? [wellFormedBody] : []),
    ...(access === 'anyone' ? [] : [entrance[access]]),
  ];
}

/**
 * Counts a request against its limits when it has a slot in the queue, where it stays until its result is known. A
 * streamed result is sent after that, as fast as the client reads it. A request that waits for a change leaves its slots.
 */
function answering(operation: Operation, entrance: Entrance): RequestHandler {
  const { access } = operation;
  return async (req, res) => {
    const call = new CALLS[access](req, res);
    const result = await resultOf(operation, entrance, call);
    if (!(result instanceof DeferredAnswer)) return send(operation, call, result);
    void answerLater(call, result, {
      ...entrance,
      access: access === 'anyone' ? undefined : entrance[access],
      look: () => resultOf(operation, entrance, call),
      send: (found) => send(operation, call, found),
    });
  };
}

async function send({ streams, file }: Operation, { req, res }: Call, result: unknown): Promise<void> {
  if (streams) await streamJson(req, res, result as object, file);
  else ok(res, result);
}

async function resultOf(operation: Operation, entrance: Entrance, call: Call): Promise<unknown> {
  const { access, queue, limits } = operation;
  const { req, res } = call;
  const attempt = attemptOf(operation, req);
  const isCounted = queue !== undefined || limits !== undefined;
  // The input matches the schemas of the operation, and the call has the class of its access.
  const answer = operation.answer as (input: object, call: Call) => Promise<unknown>;
  let slot: Slot | undefined;
  let input: object = {};
  const enter = async (subject: string) => {
    if (queue) slot = await slotIn(queue, entrance.queues, subject, call);
    if (limits) await entrance.limiter.take(call.caller, ...usesOf(limits, input, subject));
  };
  try {
    // The user of a reader is known when the first statement has found the session.
    if (call instanceof ReaderCall) call.reads.whenFound = enter;
    input = call.input ??= inputOf(operation, req);
    if (isCounted && !(call instanceof ReaderCall))
      await enter(call instanceof UserCall ? call.userId : call.caller.address);
    const work = () => call.waited?.look() ?? answer(input, call);
    const result = await (attempt ? attempt.run(work) : work());
    if (access === 'reader' && !req.signedIn) throw new Error('an operation for readers answered without reading');
    if (result instanceof DeferredAnswer) slot?.leaveAnswer();
    return result;
  } catch (error) {
    // A client without a session gets 401, and is not told what else is wrong.
    if (access === 'reader' && !req.signedIn && error instanceof BadRequest) await handled(entrance.user, req, res);
    throw error;
  } finally {
    slot?.leave();
  }
}

/**
 * Returns the attempt of a request that may change something. Calls to others have deadlines of their own, after which
 * their outcome is written down.
 */
function attemptOf({ access, othersMs }: Operation, req: Request): Attempt | undefined {
  if (access === 'reader' || othersMs !== undefined) return undefined;
  const attempt = (req.attempt = new Attempt());
  // Its session may have been looked up for too long.
  if (req.res && isTooLate(req.res)) attempt.giveUp();
  if (req.lateAt !== undefined) attempt.abandon(req.lateAt);
  return attempt;
}

function inputOf({ params, body, options }: Operation, req: Request): object {
  return {
    ...(params && (parse(params, req.params) as object)),
    ...(body && (parse(body, jsonBody(req)) as object)),
    ...(options && (parse(options, bodyIfAny(req)) as object)),
  };
}

function usesOf(limits: NonNullable<Operation['limits']>, input: object, subject: string) {
  return limits.map((one) => {
    // The count expects input that matches the schemas of the operation.
    const count = typeof one === 'string' ? 1 : (one[1] as (input: object, subject: string) => number)(input, subject);
    return { limit: nameOf(one), subject, count };
  });
}

interface Slot {
  leave: Leave;
  /** Frees the slot of an answer that is not made yet. */
  leaveAnswer: Leave;
}

/**
 * Takes a slot for a write. A write that goes on after its answer, or without its client, lets no other write of its user
 * begin until it has ended, so that it does not take effect after one.
 */
async function slotOfWrite({ writes }: Entrance['queues'], userId: string, attempt?: Attempt): Promise<Slot> {
  const leave = await writes.enter(userId);
  let unblock: Leave = () => undefined;
  attempt?.onUnanswered(() => (unblock = writes.block(userId)));
  const leaveBoth = () => {
    unblock();
    leave();
  };
  return { leave: leaveBoth, leaveAnswer: () => undefined };
}

/**
 * Takes a slot in the queue. A call that has waited takes none of the heavy reads, since it has its own queue. A heavy
 * answer, kept in memory, holds another slot until the client has read it.
 */
async function slotIn(
  queue: NonNullable<Operation['queue']>,
  queues: Entrance['queues'],
  userId: string,
  { req, res, waited }: Call,
): Promise<Slot> {
  if (queue === 'writes') return slotOfWrite(queues, userId, req.attempt);
  const leaveAnswer = queues[queue === 'exports' ? 'exports' : 'heavyAnswers'].take(userId);
  if (res.destroyed) leaveAnswer();
  else res.once('close', leaveAnswer);
  const forget = () => {
    res.off('close', leaveAnswer);
    leaveAnswer();
  };
  return { leave: waited ? () => undefined : await queues.heavyReads.enter(userId), leaveAnswer: forget };
}
