import { SendingTooOften } from '../../errors';
import type { AuditTrail } from '../audit/audit-trail';
import type { Caller } from '../audit/caller';
import type { Phone } from '../users/phone-number';
import type { UsersRepository } from '../users/users-repository';
import { alarmOf, type Alarm } from './alarm';
import type { SmsTrafficRepository } from './sms-traffic-repository';

export type SpendGuardMode = 'off' | 'record' | 'enforce';

interface Parts {
  traffic: SmsTrafficRepository;
  users: UsersRepository;
  audit: AuditTrail;
  warn: (message: string, details: object) => void;
}

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
    const refused = this.mode === 'enforce' && !(await this.parts.users.isPhoneTaken(phone.number));
    await this.tell(alarm, refused ? 'refused' : 'sent', phone, caller);
    if (refused)
      throw new SendingTooOften('codes to this region are held back for the moment', {
        retryAfterSeconds: TEN_MINUTES,
      });
  }

  private async tell(alarm: Alarm, decision: 'refused' | 'sent', phone: Phone, caller: Caller): Promise<void> {
    const { window, sent, verified, usual } = alarm;
    const { region } = phone;
    const details = { region, decision, window, sent, verified, usual, requestId: caller.requestId };
    this.parts.warn('spend guard: far fewer codes to this region are verified than usual', details);
    const share = `${verified} of ${sent} in the last ${window}, ${Math.round(100 * usual)} % before`;
    await this.parts.audit.noteRefusal({ event: 'spend_guard', phone, detail: `${decision}: ${share}` }, caller);
  }
}
