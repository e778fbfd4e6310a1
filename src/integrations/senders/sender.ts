import type { Channel } from './kinds';

/** Longest time of an exchange with a provider. */
export const EXCHANGE_MS = 10_000;

export interface Message {
  /** E.164, with the plus. */
  to: string;
  channel: Channel;
  /** The whole text, with the code if there is one. */
  body: string;
  /** Only the code, for senders with words of their own. */
  code?: string;
  /** Tag of the language of the text. */
  language?: string | undefined;
  /** Hash of the Android app that waits for the code, for senders with words of their own. */
  appHash?: string | undefined;
}

/** `over`: the provider did not compare what was typed, since it has no code for the number, or compares it no more. */
export type Comparison = 'right' | 'wrong' | 'over';

export interface Sent {
  /** The provider's name for the message, by which it tells later what became of it. */
  reference?: string | undefined;
}

/**
 * A port for messages. A message is sent; refused (NumberRefused); of unknown fate, and may still arrive
 * (SendingTimedOut); or failed, which is known: after BreakerOpen or any other error nothing was sent.
 */
export interface Sender {
  send(message: Message): Promise<Sent | void>;
  /** Compares what the user typed, for a provider that makes codes itself and is sent none. */
  check?: ((to: string, typed: string) => Promise<Comparison>) | undefined;
  /** Asks the provider what is left to pay messages with. Senders that cost nothing do not have it. */
  credit?(): Promise<Credit>;
}

export interface Credit {
  amount: number;
  currency: string;
}

/** The provider never delivers to this number: the client's mistake, not an outage. */
export class NumberRefused extends Error {
  override readonly name = 'NumberRefused';

  constructor(
    message?: string,
    /** The provider's own code for the reason. */
    readonly providerCode?: number | string,
  ) {
    super(message);
  }
}

/** No answer in time, or the connection broke: the message may or may not arrive. */
export class SendingTimedOut extends Error {
  override readonly name = 'SendingTimedOut';
}
