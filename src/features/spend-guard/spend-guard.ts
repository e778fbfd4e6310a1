import type { Logger } from 'pino';
import type { Caller } from '../../caller';
import { SendingTooOften } from '../../errors';
import type { AuditTrail } from '../audit/audit-trail';
import { countryOf, type Phone } from '../phones/phone-number';
import type { AccountHolders } from './account-holders';
import { alarmOf, alarmOfAll, burstOf, FLOOR, isProven, type Alarm } from './alarm';
import type { SmsTrafficRepository } from './sms-traffic-repository';
import { UnderWay } from './under-way';

export type SpendGuardMode = 'off' | 'record' | 'enforce';

interface Parts {
  traffic: SmsTrafficRepository;
  accountHolders: AccountHolders;
  audit: AuditTrail;
  logger: Pick<Logger, 'warn'>;
}

type Decision = 'refused' | 'let through';

/** An alarm, and what it is about: a region, or TOGETHER. */
type Finding = Alarm & { of: string };

const TOGETHER = 'all regions that are not proven';
const TEN_MINUTES = 600;

/**
 * Stops SMS toll fraud: holds codes back from a region where far fewer than usual are verified, or where more than ever
 * are under way. Regions where hardly anybody verifies codes are judged together too, so that a few codes to each of
 * many regions are noticed.
 */
export class SpendGuard {
  /** Codes that are not counted in the database yet, so that many at once do not all find room for one. */
  private readonly underWay = new UnderWay();

  constructor(
    private readonly parts: Parts,
    private readonly mode: SpendGuardMode,
  ) {}

  /** Sends a code, or refuses to. A phone with an account is sent one even where there is an alarm. */
  async guard(phone: Phone, caller: Caller, send: () => Promise<void>): Promise<void> {
    if (this.mode === 'off') return send();
    return this.underWay.during(async (enter) => {
      const finding = await this.judge(phone, enter);
      if (finding) await this.decide(finding, phone, caller);
      await send();
    });
  }

  private async judge(phone: Phone, enter: (key: string) => number): Promise<Finding | undefined> {
    const region = countryOf(phone);
    const ahead = enter(region);
    const own = await this.parts.traffic.of(phone);
    const alarm = alarmOf(own) ?? burstOf(own, ahead, FLOOR.region);
    if (alarm) return { ...alarm, of: region };
    return isProven(own) ? undefined : this.judgeTogether(enter(TOGETHER));
  }

  private async judgeTogether(ahead: number): Promise<Finding | undefined> {
    const all = await this.parts.traffic.ofUnproven();
    const alarm = alarmOfAll(all) ?? burstOf(all, ahead, FLOOR.together);
    return alarm && { ...alarm, of: TOGETHER };
  }

  private async decide(finding: Finding, phone: Phone, caller: Caller): Promise<void> {
    const refused = this.mode === 'enforce' && !(await this.parts.accountHolders.has(phone, caller));
    await this.report(finding, refused ? 'refused' : 'let through', phone, caller);
    if (refused)
      throw new SendingTooOften('sending_paused', 'codes to this region are held back for the moment', {
        retryAfterSeconds: TEN_MINUTES,
      });
  }

  private async report(finding: Finding, decision: Decision, phone: Phone, caller: Caller): Promise<void> {
    const { region } = phone;
    const details = { region, country: countryOf(phone), decision, ...finding, requestId: caller.requestId };
    this.parts.logger.warn(details, 'spend guard: more codes are sent than is usual for those that are verified');
    const detail = `${decision}: ${wordsFor(finding)}`;
    await this.parts.audit.noteUpToLimit({ event: 'spend_guard', phone, detail }, caller);
  }
}

function wordsFor(finding: Finding): string {
  if (finding.window === 'quarter hour')
    return `${finding.of}, ${finding.open} not verified yet, at most ${finding.most}`;
  const { of, verified, sent, window, usual } = finding;
  return `${of}, ${Math.round(verified)} of ${sent} in the last ${window}, ${Math.round(100 * usual)} % before`;
}
