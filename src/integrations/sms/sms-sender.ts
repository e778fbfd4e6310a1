export interface Sms {
  /** E.164, with the plus. */
  to: string;
  /** The whole text, the code within it. */
  body: string;
  /** The code by itself, for senders that hand it to a developer instead of a phone. */
  code: string;
}

/** Sends one message, or throws NumberRefused, SendingTimedOut, BreakerOpen, or whatever else went wrong. */
export interface SmsSender {
  send(sms: Sms): Promise<void>;
}

/** The provider will never deliver to this number: the caller's fault, not an outage. */
export class NumberRefused extends Error {
  override readonly name = 'NumberRefused';
}

/** No answer in time: the message may or may not arrive. */
export class SendingTimedOut extends Error {
  override readonly name = 'SendingTimedOut';
}
