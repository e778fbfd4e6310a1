import type { Logger } from 'pino';
import type { Caller } from '../../caller';
import { SendingTooOften, TooManyRequests } from '../../errors';
import type { AuditTrail } from '../audit/audit-trail';
import { checksBy, type Limiter } from '../limits/limiter';
import type { Limits } from '../limits/limits';
import type { Phone } from '../phones/phone-number';
import type { UsersRepository } from '../users/users-repository';
import { alarmOf, type Alarm } from './alarm';
import type { SmsTrafficRepository } from './sms-traffic-repository';

export type SpendGuardMode = 'off' | 'record' | 'enforce';

interface Parts {
  traffic: SmsTrafficRepository;
  users: UsersRepository;
  limiter: Limiter;
  limits: Pick<Limits, 'checksPerMinute' | 'checksPerDay'>;
  audit: AuditTrail;
  logger: Pick<Logger, 'warn'>;
}

type Decision = 'refused' | 'let through';

const TEN_MINUTES = 600;

/** Stops SMS toll fraud: holds codes back from a region where far fewer than usual are verified. */
export class SpendGuard {
  constructor(
    private readonly parts: Parts,
    private readonly mode: SpendGuardMode,
  ) {}

  /** Refuses a code for a region whose codes are not verified any more. A phone with an account is still sent one. */
  async check(phone: Phone, caller: Caller): Promise<void> {
    if (this.mode === 'off') return;
    const alarm = alarmOf(await this.parts.traffic.of(phone.region));
    if (!alarm) return;
    const refused = this.mode === 'enforce' && !(await this.hasAccount(phone, caller));
    await this.report(alarm, refused ? 'refused' : 'let through', phone, caller);
    if (refused)
      throw new SendingTooOften('codes to this region are held back for the moment', {
        retryAfterSeconds: TEN_MINUTES,
      });
  }

  /** Reveals whether there is an account, as check_phone_available does; so the same limits apply. */
  private async hasAccount(phone: Phone, caller: Caller): Promise<boolean> {
    const { users, limiter, limits } = this.parts;
    try {
      await limiter.take(caller, ...checksBy(caller, limits));
    } catch (error) {
      if (error instanceof TooManyRequests) return false;
      throw error;
    }
    return users.isPhoneTaken(phone.number);
  }

  private async report(alarm: Alarm, decision: Decision, phone: Phone, caller: Caller): Promise<void> {
    const { window, sent, verified, usual } = alarm;
    const { region } = phone;
    const details = { region, decision, window, sent, verified, usual, requestId: caller.requestId };
    this.parts.logger.warn(details, 'spend guard: far fewer codes to this region are verified than usual');
    const share = `${verified} of ${sent} in the last ${window}, ${Math.round(100 * usual)} % before`;
    await this.parts.audit.noteUpToLimit({ event: 'spend_guard', phone, detail: `${decision}: ${share}` }, caller);
  }
}
