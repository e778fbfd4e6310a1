import { afterTime } from '../load/timeout';
import { CallAborted } from '../load/breaker';
import { observed, type CallObserver } from './calls';

export interface FormAnswer {
  status: number;
  /** Undefined if it is not JSON. */
  body: unknown;
}

interface Form {
  fields: URLSearchParams;
  headers?: Record<string, string>;
  timeoutMs: number;
  /** Controller with which the caller may abort. */
  ending?: AbortController | undefined;
  observe?: CallObserver | undefined;
}

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

/** Posts a form to a vendor, and reads its answer, whatever its status. */
export function postForm(peer: string, url: string, form: Form): Promise<FormAnswer> {
  return observed(
    form.observe,
    url,
    () => exchange(peer, url, form),
    ({ status }) => status,
  );
}

async function exchange(peer: string, url: string, form: Form): Promise<FormAnswer> {
  const { fields, headers, timeoutMs, ending = new AbortController() } = form;
  const stop = afterTime(timeoutMs, () => ending.abort(new DOMException('timed out', 'TimeoutError')));
  try {
    const response = await fetch(url, {
      method: 'POST',
      ...(headers && { headers }),
      body: fields,
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
  return new NoAnswer(peer, reason);
}

function propertiesOf(error: unknown): { name?: unknown; code?: unknown; cause?: unknown } {
  return typeof error === 'object' && error !== null ? error : {};
}
