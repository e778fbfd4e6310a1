import { Tally } from '../../base/tally';
import { BreakerOpen } from '../../load/breaker';
import { NumberRefused, SendingTimedOut, type Sms, type SmsSender } from './sms-sender';

const OUTCOMES = ['sent', 'refused', 'timed_out', 'failed', 'not_tried'] as const;
type Outcome = (typeof OUTCOMES)[number];

/** Counts what became of each message, by provider and outcome. */
export class CountedSmsSender implements SmsSender {
  readonly counts: Tally;

  constructor(
    private readonly sender: SmsSender,
    private readonly provider: string,
  ) {
    this.counts = new Tally(OUTCOMES.map((outcome) => nameOf(provider, outcome)));
  }

  async send(sms: Sms): Promise<void> {
    try {
      await this.sender.send(sms);
      this.counts.add(nameOf(this.provider, 'sent'));
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
