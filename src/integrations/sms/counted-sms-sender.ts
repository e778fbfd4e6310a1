import { Tally } from '../../base/tally';
import { BreakerOpen } from '../../load/breaker';
import { NumberRefused, SendingTimedOut, type Sms, type SmsSender } from './sms-sender';

/** Counts what became of each message, by provider and outcome. */
export class CountedSmsSender implements SmsSender {
  readonly counts = new Tally();

  constructor(
    private readonly sender: SmsSender,
    private readonly provider: string,
  ) {}

  async send(sms: Sms): Promise<void> {
    try {
      await this.sender.send(sms);
      this.counts.add(`${this.provider} sent`);
    } catch (error) {
      this.counts.add(`${this.provider} ${outcomeOf(error)}`);
      throw error;
    }
  }
}

function outcomeOf(error: unknown): string {
  if (error instanceof NumberRefused) return 'refused';
  if (error instanceof SendingTimedOut) return 'timed_out';
  return error instanceof BreakerOpen ? 'not_tried' : 'failed';
}
