import type { Sms, SmsSender } from './sms-sender';

export interface SentSms extends Sms {
  at: Date;
}

/** Older messages are forgotten. */
const MOST = 100;

/** For development: a sender whose messages can be read. They are in the memory of this process alone. */
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
