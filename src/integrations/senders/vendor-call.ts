import { Breaker } from '../../load/breaker';
import type { CallObserver } from '../calls';
import { CutOff, NoAnswerInTime, post, type Answered } from '../post';
import { EXCHANGE_MS, SendingTimedOut } from './sender';

export interface CallOptions {
  timeoutMs?: number | undefined;
  observe?: CallObserver | undefined;
}

/** A message was not taken, for a reason that is not the number. The vendor's own words are left out: they repeat it. */
export function notTaken(peer: string, status: number, code?: number | string): Error {
  const known = [`HTTP status ${status}`, ...(code === undefined ? [] : [`code ${code}`])];
  return new Error(`${peer} did not take the message (${known.join(', ')})`);
}

/** Gives messages to a vendor in JSON. Without an answer a message may still arrive. */
export class VendorCall {
  private readonly breaker: Breaker;

  constructor(
    private readonly peer: string,
    private readonly options: CallOptions,
  ) {
    this.breaker = new Breaker(peer, (error) => error instanceof SendingTimedOut);
  }

  post(url: string, body: string, headers: Record<string, string>): Promise<Answered> {
    return this.breaker.run(() => this.exchange(url, body, headers));
  }

  private async exchange(url: string, body: string, headers: Record<string, string>): Promise<Answered> {
    const { timeoutMs = EXCHANGE_MS, observe } = this.options;
    try {
      return await post(this.peer, url, {
        body,
        headers: { 'Content-Type': 'application/json', ...headers },
        timeoutMs,
        observe,
      });
    } catch (error) {
      if (error instanceof NoAnswerInTime || error instanceof CutOff) throw new SendingTimedOut(error.message);
      throw error;
    }
  }
}
