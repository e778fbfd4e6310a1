import { SendingTooOften, TooManyRequests } from '../../errors';
import type { AuditTrail } from '../audit/audit-trail';
import type { Caller } from '../audit/caller';
import { checksBy, type Limiter } from '../limits/limiter';
import type { Limits } from '../limits/limits';
import type { Phone } from '../users/phone-number';
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
  tell: (message: string, details: object) => void;
}

type Decision = 'refused' | 'let through';

const TEN_MINUTES = 600;

/** Keeps codes from being sent to where they are asked for by those who earn from the messages. */
export class SpendGuard {
  constructor(
    private readonly parts: Parts,
    private readonly mode: SpendGuardMode,
  ) {}

  /** Refuses a code for a region whose codes are not verified any more; who has an account there is still sent one. */
  async check(phone: Phone, caller: Caller): Promise<void> {
    if (this.mode === 'off') return;
    const alarm = alarmOf(await this.parts.traffic.of(phone.region));
    if (!alarm) return;
    const refused = this.mode === 'enforce' && !(await this.hasAccount(phone, caller));
    await this.tell(alarm, refused ? 'refused' : 'let through', phone, caller);
    if (refused)
      throw new SendingTooOften('codes to this region are held back for the moment', {
        retryAfterSeconds: TEN_MINUTES,
      });
  }

  /** The answer tells whether there is an account, so it is limited as check_phone_available is, which tells the same. */
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

  private async tell(alarm: Alarm, decision: Decision, phone: Phone, caller: Caller): Promise<void> {
    const { window, sent, verified, usual } = alarm;
    const { region } = phone;
    const details = { region, decision, window, sent, verified, usual, requestId: caller.requestId };
    this.parts.tell('spend guard: far fewer codes to this region are verified than usual', details);
    const share = `${verified} of ${sent} in the last ${window}, ${Math.round(100 * usual)} % before`;
    await this.parts.audit.noteSparingly({ event: 'spend_guard', phone, detail: `${decision}: ${share}` }, caller);
  }
}
