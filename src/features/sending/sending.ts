import { SendingTooOften } from '../../base/errors';
import { BreakerOpen } from '../../load/breaker';
import { nameOf, type Channel, type SenderName, type Way } from '../../integrations/senders/kinds';
import {
  EXCHANGE_MS,
  NumberRefused,
  SendingTimedOut,
  type Message,
  type Sender,
} from '../../integrations/senders/sender';
import type { PricedWay } from './routes';

/** Time after which no other way is begun. */
const MOST_MS = 5_000;

/** Longest time that a request waits for senders. Its deadline counts this beside the service's own time. */
export const SENDING_MS = MOST_MS + EXCHANGE_MS;

/** No way has taken the message. */
export class NoWayTook extends Error {
  override readonly name = 'NoWayTook';

  constructor(
    cause: unknown,
    /** Whether a provider was asked, and not only held back. */
    readonly wasAsked: boolean,
  ) {
    super(cause instanceof Error ? cause.message : 'no way leads there', { cause });
  }
}

export interface Taken {
  way: PricedWay;
  /** The provider's name for the message, or empty. */
  reference: string;
}

/**
 * Sends a message by the first of its ways that takes it. The next one follows only after a known failure: after a
 * time-out the message may still arrive.
 */
export class Sending {
  constructor(
    private readonly senders: Map<SenderName, Sender>,
    private readonly now = () => performance.now(),
  ) {}

  /**
   * Throws NumberRefused if each way refuses the number. `before` runs before each way. A further way that it refuses as
   * too much is not taken.
   */
  async send(
    ways: PricedWay[],
    message: Omit<Message, 'channel' | 'body'> & { body: (channel: Channel) => string },
    before: (way: PricedWay) => Promise<void> = () => Promise.resolve(),
  ): Promise<Taken> {
    const begun = this.now();
    const errors: unknown[] = [];
    for (const way of ways) {
      if (this.now() - begun > MOST_MS) break;
      try {
        await before(way);
      } catch (error) {
        // Somebody was asked already, which counts.
        if (errors.length > 0 && error instanceof SendingTooOften) break;
        throw error;
      }
      try {
        const { channel } = way;
        const sent = await this.senderOf(way).send({ ...message, channel, body: message.body(channel) });
        return { way, reference: sent?.reference ?? '' };
      } catch (error) {
        if (error instanceof SendingTimedOut) throw error;
        errors.push(error);
      }
    }
    throw failureOf(errors);
  }

  /**
   * Compares a code with a provider that made it itself. Undefined: this way's codes are the service's own. The way may
   * have been taken out of the settings since the code was sent.
   */
  checkOf(way: Way): Sender['check'] {
    return this.senders.get(way.sender)?.check;
  }

  private senderOf(way: Way): Sender {
    const sender = this.senders.get(way.sender);
    if (!sender) throw new Error(`${nameOf(way)} is not set up`);
    return sender;
  }
}

function failureOf(errors: unknown[]): Error {
  const [refused] = errors.filter((error) => error instanceof NumberRefused);
  const failures = errors.filter((error) => !(error instanceof NumberRefused));
  if (refused && failures.length === 0) return refused;
  const asked = failures.filter((error) => !(error instanceof BreakerOpen));
  return new NoWayTook(asked[0] ?? failures[0], refused !== undefined || asked.length > 0);
}
