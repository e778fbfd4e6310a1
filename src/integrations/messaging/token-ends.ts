import type { Logger } from 'pino';
import type { MessagingProvider } from './messaging-provider';

/** The end of all tokens that a user got before this moment. */
export interface TokenEnd {
  userId: string;
  endedAt: Date;
}

/** Ends that the provider has not confirmed. Each is written in the transaction that ends the tokens. */
export interface UnconfirmedEnds {
  /** Returns some ends that no other instance is reporting now. */
  claim(): Promise<TokenEnd[]>;
  /** Removes an end, unless the tokens have ended again since. */
  removeEnd(end: TokenEnd): Promise<void>;
}

/** Reports ended tokens to the messaging provider, until it confirms them. */
export class TokenEnds {
  private sweeping: Promise<void> | undefined;

  constructor(
    private readonly messaging: MessagingProvider,
    private readonly unconfirmed: UnconfirmedEnds,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /** Reports an end, if there is one, after it took effect. Does not fail when the provider does not answer. */
  async report(end: TokenEnd | undefined): Promise<void> {
    if (end) await this.reportAll([end]);
  }

  /** Reports ends that are unconfirmed, or left by a killed instance. One sweep at a time, as it may take long. */
  sweep(): Promise<void> {
    this.sweeping ??= this.reportUnconfirmed().finally(() => (this.sweeping = undefined));
    return this.sweeping;
  }

  /** Goes on as long as the provider confirms, since there are many after an outage. */
  private async reportUnconfirmed(): Promise<void> {
    for (let ends = await this.unconfirmed.claim(); ends.length > 0; ends = await this.unconfirmed.claim())
      if ((await this.reportAll(ends)) > 0) return;
  }

  /** Returns how many were not confirmed. */
  private async reportAll(ends: TokenEnd[]): Promise<number> {
    const failures: unknown[] = [];
    for (const end of ends) await this.reportOne(end).catch((error: unknown) => failures.push(error));
    if (failures.length === 0) return 0;
    const message = 'the messaging provider did not confirm ended tokens of users: they stay valid until it does';
    this.logger.warn({ err: failures[0], count: failures.length }, message);
    return failures.length;
  }

  private async reportOne(end: TokenEnd): Promise<void> {
    await this.messaging.endTokens(end.userId, end.endedAt);
    await this.unconfirmed.removeEnd(end);
  }
}
