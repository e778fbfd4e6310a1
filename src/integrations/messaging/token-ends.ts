import type { Logger } from 'pino';
import type { MessagingProvider } from './messaging-provider';

/** That the tokens which a user was given before this moment have ended. */
export interface TokenEnd {
  userId: string;
  endedAt: Date;
}

/** What the provider has not confirmed yet; each is written in the transaction that ends the tokens. */
export interface UntoldEnds {
  /** Some that nobody else is telling now. */
  claim(): Promise<TokenEnd[]>;
  /** Not when the tokens have ended once more since. */
  removeEnd(end: TokenEnd): Promise<void>;
}

/** Tells the messaging provider whose tokens have ended, until it confirms. */
export class TokenEnds {
  private sweeping: Promise<void> | undefined;

  constructor(
    private readonly messaging: MessagingProvider,
    private readonly untold: UntoldEnds,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /** Once they have ended, if there were any. Nothing fails when the provider does not answer. */
  async tell(end: TokenEnd | undefined): Promise<void> {
    if (end) await this.tellAll([end]);
  }

  /** What was not confirmed, or not told since an instance was killed. One sweep at a time, as it may take long. */
  sweep(): Promise<void> {
    this.sweeping ??= this.tellUntold().finally(() => (this.sweeping = undefined));
    return this.sweeping;
  }

  /** After an outage there are many: goes on as long as the provider confirms them. */
  private async tellUntold(): Promise<void> {
    for (let ends = await this.untold.claim(); ends.length > 0; ends = await this.untold.claim())
      if ((await this.tellAll(ends)) > 0) return;
  }

  /** Returns how many were not confirmed. */
  private async tellAll(ends: TokenEnd[]): Promise<number> {
    const failures: unknown[] = [];
    for (const end of ends) await this.tellOne(end).catch((error: unknown) => failures.push(error));
    if (failures.length === 0) return 0;
    const message = 'the messaging provider did not confirm that tokens of users have ended: they go on until it does';
    this.logger.warn({ err: failures[0], count: failures.length }, message);
    return failures.length;
  }

  private async tellOne(end: TokenEnd): Promise<void> {
    await this.messaging.endTokens(end.userId, end.endedAt);
    await this.untold.removeEnd(end);
  }
}
