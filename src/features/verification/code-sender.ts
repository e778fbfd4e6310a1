import type { Caller } from '../../base/caller';
import { Unavailable } from '../../base/errors';
import { maskedAddress } from '../../base/networks';
import { NumberRefused, SendingTimedOut, type SmsSender } from '../../integrations/sms/sms-sender';
import { BreakerOpen } from '../../load/breaker';
import type { Phone } from '../phones/phone-number';
import type { VerificationCodes } from './verification-code';
import type { VerificationRepository } from './verification-repository';

const RETRY_AFTER_SECONDS = 10;

/** The provider cannot accept messages now. Nothing was sent. */
export class SendingFailed extends Unavailable {
  constructor(cause: unknown) {
    const retryAfterSeconds = cause instanceof BreakerOpen ? cause.retryAfterSeconds : RETRY_AFTER_SECONDS;
    super('sms_failed', 'the SMS could not be sent: try again later', { cause, retryAfterSeconds });
  }
}

export interface CodeMessage {
  /** Text with {code} and {minutes}. */
  smsText: string;
  codeTtlSeconds: number;
}

/** Makes, stores and sends codes. */
export class CodeSender {
  constructor(
    private readonly verification: VerificationRepository,
    private readonly codes: VerificationCodes,
    private readonly sms: SmsSender,
    private readonly message: CodeMessage,
  ) {}

  /**
   * Stores the code before sending it, so that it is known when it arrives, even if this process has ended by then.
   * Withdraws it when it certainly was not sent. After a time-out it may still arrive, and stays valid.
   */
  async send(phone: Phone, asker: Pick<Caller, 'address' | 'ip'>): Promise<void> {
    const code = this.codes.create();
    const kept = this.codes.kept(phone.number, code, asker.address);
    const network = maskedAddress(asker.ip);
    const id = await this.verification.addCode(phone, kept, network, this.message.codeTtlSeconds);
    try {
      await this.sms.send({ to: phone.number, body: this.textWith(code), code });
    } catch (error) {
      if (error instanceof SendingTimedOut) throw error;
      await this.verification.withdrawCode(id, phone);
      throw error instanceof NumberRefused ? error : new SendingFailed(error);
    }
  }

  private textWith(code: string): string {
    const minutes = String(Math.ceil(this.message.codeTtlSeconds / 60));
    return this.message.smsText.replaceAll('{code}', code).replaceAll('{minutes}', minutes);
  }
}
