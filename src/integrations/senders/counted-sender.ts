import { Tally } from '../../base/tally';
import { BreakerOpen } from '../../load/breaker';
import { NumberRefused, SendingTimedOut, type Message, type Sender, type Sent } from './sender';

const OUTCOMES = ['sent', 'refused', 'timed_out', 'failed', 'not_tried'] as const;
type Outcome = (typeof OUTCOMES)[number];

/** Counts what became of each message, by provider and outcome. */
export class CountedSender implements Sender {
  readonly counts: Tally;
  readonly check: Sender['check'];

  constructor(
    private readonly sender: Sender,
    private readonly provider: string,
  ) {
    this.counts = new Tally(OUTCOMES.map((outcome) => nameOf(provider, outcome)));
    this.check = sender.check?.bind(sender);
  }

  async send(message: Message): Promise<Sent | void> {
    try {
      const sent = await this.sender.send(message);
      this.counts.add(nameOf(this.provider, 'sent'));
      return sent;
    } catch (error) {
      this.counts.add(nameOf(this.provider, outcomeOf(error)));
      throw error;
    }
  }
}

function nameOf(provider: string, outcome: Outcome): string {
  return `${provider} ${outcome}`;
}

function outcomeOf(error: unknown): Outcome {
  if (error instanceof NumberRefused) return 'refused';
  if (error instanceof SendingTimedOut) return 'timed_out';
  return error instanceof BreakerOpen ? 'not_tried' : 'failed';
}
