import type { Logger } from 'pino';
import type { Caller } from '../../base/caller';
import { BadRequest, Unavailable } from '../../base/errors';
import { maskedAddress } from '../../base/networks';
import { nameOf, type Channel } from '../../integrations/senders/kinds';
import { SendingTimedOut } from '../../integrations/senders/sender';
import { BreakerOpen } from '../../load/breaker';
import type { Phone } from '../phones/phone-number';
import type { PricedWay, Routes } from '../sending/routes';
import { NoWayTook, type Sending } from '../sending/sending';
import type { WaysRepository } from '../sending/ways-repository';
import type { Wording, Words } from '../sending/words';
import type { VerificationCodes } from './verification-code';
import type { VerificationRepository } from './verification-repository';

const RETRY_AFTER_SECONDS = 10;
const UNTOLD = 'the reference of a code that was sent was not stored: its receipt will not be known';

/** The provider cannot accept messages now. Nothing was sent. */
export class SendingFailed extends Unavailable {
  constructor(
    cause: unknown,
    readonly wasProviderAsked: boolean,
  ) {
    const retryAfterSeconds = cause instanceof BreakerOpen ? cause.retryAfterSeconds : RETRY_AFTER_SECONDS;
    super('sms_failed', 'the SMS could not be sent: try again later', { cause, retryAfterSeconds });
  }
}

/** How the user wants to get the code. */
export interface CodeWish {
  channel?: Channel | undefined;
  wording: Wording;
}

/** A code to send. */
export interface CodeToSend {
  asker: Pick<Caller, 'address' | 'ip'>;
  wording: Wording;
  /** Counts the code as what its next way costs. Throws if that is too much: then nothing was sent. */
  pay: (way: PricedWay) => Promise<void>;
}

interface Deps {
  verification: VerificationRepository;
  ways: WaysRepository;
  codes: VerificationCodes;
  routes: Routes;
  sending: Sending;
  words: Words;
  logger: Pick<Logger, 'warn'>;
}

/** Makes, stores and sends codes. */
export class CodeSender {
  constructor(
    private readonly deps: Deps,
    private readonly rules: { codeTtlSeconds: number },
  ) {}

  /** Returns the ways by which a code would go, the first to be tried first. */
  async waysTo(phone: Phone, { channel }: Pick<CodeWish, 'channel'>): Promise<PricedWay[]> {
    const { routes, ways } = this.deps;
    const failed = routes.hasChoice(phone) ? await ways.failedWay(phone.number) : undefined;
    const found = await routes.forCode(phone, { channel, failed });
    if (found.length === 0) throw new BadRequest('channel_not_served', 'channel: does not lead to this phone');
    return found;
  }

  /**
   * Stores the code before sending it, so that it is known when it arrives, even if this process has ended by then.
   * Withdraws it when it certainly was not sent. After a time-out it may still arrive, and stays valid. All ways are
   * given the same code, and the newest row says by whom it is compared, so that two codes are never valid.
   */
  async send(phone: Phone, ways: PricedWay[], { asker, wording, pay }: CodeToSend): Promise<Channel> {
    const { verification, codes, sending, words } = this.deps;
    const code = codes.create();
    const kept = codes.kept(phone.number, code, asker.address);
    const { language } = wording;
    let tried = ways[0] ? nameOf(ways[0]) : '';
    const about = { network: maskedAddress(asker.ip), way: tried, language };
    const id = await verification.addCode(phone, kept, about, this.rules.codeTtlSeconds);
    const before = async (way: PricedWay) => {
      await pay(way);
      if (nameOf(way) !== tried) await verification.setWay(id, nameOf(way));
      tried = nameOf(way);
    };
    try {
      // Only SMS is read by programs of the phone.
      const body = (channel: Channel) => words.code(channel === 'sms' ? wording : { language }, code);
      const appHash = words.appHashIn(wording);
      const message = { to: phone.number, body, code, language: words.tagOf(language), appHash };
      const { way, reference } = await sending.send(ways, message, before);
      if (reference) await this.keepReference(id, reference);
      return way.channel;
    } catch (error) {
      if (error instanceof SendingTimedOut) throw error;
      await verification.withdrawCode(id, phone);
      throw error instanceof NoWayTook ? new SendingFailed(error.cause, error.wasAsked) : error;
    }
  }

  /** Stores the code of a test number, and sends nothing. */
  async keep(phone: Phone, code: string, asker: Pick<Caller, 'address'>, wish: CodeWish): Promise<Channel> {
    const { verification, codes } = this.deps;
    const kept = codes.kept(phone.number, code, asker.address);
    await verification.addTestCode(phone, kept, wish.wording.language, this.rules.codeTtlSeconds);
    return wish.channel ?? 'sms';
  }

  /** Does not fail: the code was sent, so it stays valid and counts. */
  private async keepReference(id: number, reference: string): Promise<void> {
    try {
      await this.deps.verification.setReference(id, reference);
    } catch (error) {
      this.deps.logger.warn({ err: error }, UNTOLD);
    }
  }
}
