import type { Foundation } from '../../foundation/foundation';
import { gauge, tallied, type Values } from '../../foundation/part';
import type { AuditTrail } from '../audit/audit-trail';
import type { Limiter } from '../limits/limiter';
import type { SmsTrafficRepository } from './sms-traffic-repository';
import { SpendGuard, type SpendGuardMode } from './spend-guard';

type Needs = Foundation<{ smsTraffic: SmsTrafficRepository }> & { limiter: Limiter; audit: AuditTrail };

const DECISIONS = {
  name: 'spend_guard_decisions_total',
  help: 'Decisions of the spend guard about codes, in an alarm.',
  labels: ['window', 'decision'],
};

const CODES = {
  name: 'codes_last_day',
  help: 'Codes that were sent in the last day and are judged by now, and those of them that were verified.',
  labels: ['regions', 'result'],
};

export function buildSpendGuard({ repos, limiter, audit, logger }: Needs, mode: SpendGuardMode) {
  const traffic = repos.smsTraffic;
  const spendGuard = new SpendGuard({ traffic, limiter, audit, logger }, mode);
  const codes = async () =>
    (await traffic.ofDay()).flatMap(({ proven, sent, verified }): Values => {
      const regions = proven ? 'proven' : 'others';
      return [
        [[regions, 'sent'], sent],
        [[regions, 'verified'], verified],
      ];
    });
  const sweeps = [{ name: 'traffic', run: () => traffic.sweep() }];
  return { spendGuard, part: { sweeps, figures: [tallied(DECISIONS, spendGuard.alarms), gauge(CODES, codes)] } };
}
