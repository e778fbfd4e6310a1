import type { Sms, SmsSender } from './sms-sender';

export interface SentSms extends Sms {
  at: Date;
}

/** Number of messages kept. Older ones are dropped. */
const MOST = 100;

/** Sender for development that also keeps the messages, only in the memory of this process. */
export class Inbox implements SmsSender {
  private sent: SentSms[] = [];

  constructor(
    private readonly sender: SmsSender,
    private readonly most = MOST,
  ) {}

  async send(sms: Sms): Promise<void> {
    await this.sender.send(sms);
    this.sent = [{ ...sms, at: new Date() }, ...this.sent].slice(0, this.most);
  }

  newestFirst(): readonly SentSms[] {
    return this.sent;
  }
}
