import type { Twilio } from 'twilio';
import { Breaker } from '../../../load/breaker';
import { SendingTimedOut, type Credit, type Message, type Sender, type Sent } from '../sender';
import { spokenCode } from '../spoken-code';
import { creditOf, failure, openTwilio, sanitised, type TwilioAccount } from '../twilio-account';

export interface TwilioOptions extends TwilioAccount {
  /** The sending number; one of `from` and `messagingServiceSid` is needed, and for calls `from`. */
  from?: string | undefined;
  messagingServiceSid?: string | undefined;
  /** Where Twilio tells what became of a message. */
  receiptsUrl?: string | undefined;
}

/**
 * Twilio's codes for a `To` that no setting of ours can reach. Leaves out 21408 and 21215 (country not enabled) and 21608
 * (trial account), which the operator must see as failures.
 */
const REFUSED_NUMBERS = new Set([
  13224, // cannot be called, or is not valid
  21211, // not a valid number
  21214, // cannot be reached
  21216, // blocked for calls
  21217, // does not appear to be valid
  21265, // a short code
  21266, // the sending number itself
  21268, // a premium number
  21610, // the recipient answered STOP
  21612, // not reachable by SMS from the sender
  21614, // not a mobile number
  21635, // a landline
  30003, // unreachable handset
  30004, // blocked
  30005, // unknown or inactive
  30006, // a landline, or its carrier takes no SMS
]);

/** States of a new message or call that has ended already. */
const ENDED = ['failed', 'undelivered', 'canceled'];

/** A new message or call. */
interface Made {
  sid: string;
  status: string;
  errorCode?: number;
}

/** Importing this module loads Twilio's SDK, which takes a moment: import it only where Twilio is used. */
export class TwilioSender implements Sender {
  private readonly client: Twilio;
  private readonly breaker = new Breaker('Twilio', (error) => error instanceof SendingTimedOut);
  private readonly sender: { messagingServiceSid: string } | { from: string };

  constructor(private readonly options: TwilioOptions) {
    const { from, messagingServiceSid } = options;
    if (messagingServiceSid) this.sender = { messagingServiceSid };
    else if (from) this.sender = { from };
    else throw new Error('Twilio needs a number or a messaging service to send from');
    this.client = openTwilio(options);
  }

  async send(message: Message): Promise<Sent> {
    const { sid, status, errorCode } = await this.breaker.run(() => this.make(message));
    // The SDK turns JSON that is not Twilio's into an empty message instead of an error.
    if (typeof sid !== 'string') throw new Error('Twilio gave an answer that is not a message');
    if (ENDED.includes(status)) throw failure(undefined, errorCode, REFUSED_NUMBERS);
    return { reference: sid };
  }

  credit(): Promise<Credit> {
    return creditOf(this.client);
  }

  private async make(message: Message): Promise<Made> {
    const { to, channel, body } = message;
    const { receiptsUrl: statusCallback } = this.options;
    const told = statusCallback === undefined ? {} : { statusCallback };
    try {
      return await (channel === 'voice'
        ? this.client.calls.create({ to, from: this.caller(), twiml: spokenCode(message), ...told })
        : this.client.messages.create({ ...this.sender, to, body, ...told }));
    } catch (error) {
      throw sanitised(error, REFUSED_NUMBERS);
    }
  }

  /** A messaging service cannot call. */
  private caller(): string {
    const { from } = this.options;
    if (!from) throw new Error('Twilio needs a number to call from');
    return from;
  }
}
