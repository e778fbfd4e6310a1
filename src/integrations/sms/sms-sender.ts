export interface Sms {
  /** E.164, with the plus. */
  to: string;
  /** The whole text, with the code if there is one. */
  body: string;
  /** Only the code, for senders that show it to a developer. */
  code?: string;
}

/** Sends one message, or throws NumberRefused, SendingTimedOut, BreakerOpen, or another error. */
export interface SmsSender {
  send(sms: Sms): Promise<void>;
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
    readonly providerCode?: number,
  ) {
    super(message);
  }
}

/** No answer in time: the message may or may not arrive. */
export class SendingTimedOut extends Error {
  override readonly name = 'SendingTimedOut';
}
