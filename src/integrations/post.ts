import { afterTime } from '../load/timeout';
import { CallAborted } from '../load/breaker';
import { observed, type CallObserver } from './calls';

export interface Answered {
  status: number;
  /** Undefined if it is not JSON. */
  body: unknown;
}

interface Posted {
  /** A form, or the text of another type, which the headers then tell. */
  body: URLSearchParams | string;
  headers?: Record<string, string>;
  timeoutMs: number;
  /** Controller with which the caller may abort. */
  ending?: AbortController | undefined;
  observe?: CallObserver | undefined;
}

/** Codes of a connection that was there, and broke. */
const BROKEN = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** The peer could not be reached, or did not finish its answer. */
export class NoAnswer extends Error {
  override readonly name: string = 'NoAnswer';

  constructor(peer: string, reason: string) {
    super(`${peer} gave no answer (${reason})`);
  }
}

export class NoAnswerInTime extends NoAnswer {
  override readonly name = 'NoAnswerInTime';

  constructor(peer: string) {
    super(peer, 'timed out');
  }
}

/** The connection broke after the request was written: the peer may have done what it was asked. */
export class CutOff extends NoAnswer {
  override readonly name = 'CutOff';
}

/** Whether the peer may still do what it was asked, also after later calls. */
export function mayBeLate(error: unknown): boolean {
  return error instanceof NoAnswerInTime || error instanceof CutOff;
}

/** Posts to a vendor, and reads its answer, whatever its status. */
export function post(peer: string, url: string, posted: Posted): Promise<Answered> {
  return observed(
    posted.observe,
    url,
    () => exchange(peer, url, posted),
    ({ status }) => status,
  );
}

async function exchange(peer: string, url: string, posted: Posted): Promise<Answered> {
  const { body, headers, timeoutMs, ending = new AbortController() } = posted;
  const stop = afterTime(timeoutMs, () => ending.abort(new DOMException('timed out', 'TimeoutError')));
  try {
    const response = await fetch(url, {
      method: 'POST',
      ...(headers && { headers }),
      body,
      redirect: 'error',
      // Also aborts reading the body, so a slow answer ends with it.
      signal: ending.signal,
    });
    return { status: response.status, body: parseJson(await response.text()) };
  } catch (error) {
    throw noAnswer(peer, error);
  } finally {
    stop();
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the kind of failure in one word, without a cause, since the error may contain the request. */
function noAnswer(peer: string, error: unknown): NoAnswer | CallAborted {
  const { name, cause } = propertiesOf(error);
  if (name === 'AbortError') return new CallAborted(peer);
  if (name === 'TimeoutError') return new NoAnswerInTime(peer);
  const reason = [propertiesOf(cause).code, name].find((word) => typeof word === 'string') ?? 'unknown';
  return BROKEN.has(reason) ? new CutOff(peer, reason) : new NoAnswer(peer, reason);
}

function propertiesOf(error: unknown): { name?: unknown; code?: unknown; cause?: unknown } {
  return typeof error === 'object' && error !== null ? error : {};
}
