import type { Logger } from 'pino';
import type { Caller } from '../../base/caller';
import { SendingTooOften } from '../../base/errors';
import { maskedAddress, wideNetworkOf } from '../../base/networks';
import { Tally } from '../../base/tally';
import { SendingTimedOut } from '../../integrations/senders/sender';
import type { AuditTrail } from '../audit/audit-trail';
import type { Trust } from '../audit/known-places';
import type { LimitName } from '../../load/limits';
import type { Limiter, CountedUses, LimitUse } from '../limits/limiter';
import { countryOf, type Phone } from '../phones/phone-number';
import { firstCostOf, type PricedWay } from '../sending/routes';
import { alarmOf, alarmOfAll, alarmOfNetwork, burstOf, FLOOR, hasHadMuch, isBehind, isProven, mostOpen } from './alarm';
import type { Alarm, NetworkAlarm, Traffic } from './alarm';
import type { NetworkTraffic, SmsTrafficRepository } from './sms-traffic-repository';
import { UnderWay } from './under-way';

export type SpendGuardMode = 'off' | 'record' | 'enforce';

interface Deps {
  traffic: SmsTrafficRepository;
  limiter: Limiter;
  audit: AuditTrail;
  logger: Pick<Logger, 'warn'>;
}

/** A request for a code. */
export interface Asking {
  phone: Phone;
  caller: Caller;
  trust: Trust;
  captcha: CaptchaInAlarm;
  /** The ways of the code, the first to be tried first. */
  ways: PricedWay[];
}

/** Counts a code as what its next way costs, or refuses that. */
export type Pay = (way: PricedWay) => Promise<void>;

/** Whether a captcha was solved that goes first in an alarm. `useless`: no such captcha, or none is asked for. */
export type CaptchaInAlarm = 'solved' | 'missing' | 'useless';

const WINDOWS = ['quarter hour', 'hour', 'day', 'network'] as const satisfies readonly Alarm['window'][];
const DECISIONS = ['refused', 'let through'] as const;
type Decision = (typeof DECISIONS)[number];

/** An alarm, its subject (a region, or TOGETHER), and the codes that are still sent there per quarter of an hour. */
type Finding = Alarm & { of: string; share: number };

const TOGETHER = 'all regions that are not proven';
const TEN_MINUTES = 600;
const QUARTER_MS = 900_000;

/**
 * Portions of the share that an alarm leaves. A network is known once it has verified a code in the last fortnight. An
 * attacker has many new networks, but hardly any that people use.
 */
const PORTIONS = { known: 0.5, captcha: 0.25, all: 0.25 };
type Portion = keyof typeof PORTIONS;
/** Slices of a quarter of an hour: the share is not gone in its first minute. The limit `alarmShare` is that long. */
const SLICES = 5;
/** Share of one wide network. */
const MOST_OF_WIDE = 0.2;

/**
 * Stops SMS toll fraud. Holds codes back from regions where far fewer than usual are verified, or more than ever are
 * pending, and from networks that verify hardly any. Regions where hardly anybody verifies codes are also judged
 * together, so that a few codes to each of many regions are noticed.
 */
export class SpendGuard {
  /** Alarms by kind and decision. */
  readonly alarms = new Tally(WINDOWS.flatMap((window) => DECISIONS.map((decision) => tallied(window, decision))));
  /** Codes that the database does not count yet, so that simultaneous requests do not all use the last one. */
  private readonly underWay = new UnderWay();

  private alarmedUntil = -Infinity;

  constructor(
    private readonly deps: Deps,
    private readonly mode: SpendGuardMode,
    private readonly now = () => performance.now(),
  ) {}

  /** Whether this instance has found an alarm in the last quarter of an hour, other than of a single network. */
  isAlarmed(): boolean {
    return this.now() < this.alarmedUntil;
  }

  /** Sends a code, or refuses to. */
  async guard<T>(asking: Asking, send: (pay: Pay) => Promise<T>): Promise<T> {
    if (this.mode === 'off') return send(() => Promise.resolve());
    return this.underWay.during(async (enter) => {
      const network = await this.networkOf(asking.caller, enter);
      const finding = await this.judge(asking, network, enter);
      const taken = finding && (await this.decide(finding, network, asking));
      return send(async ({ cost }) => taken?.countAs(cost)).catch(async (error: unknown) => {
        // A code that may still arrive is paid for.
        if (!(error instanceof SendingTimedOut)) await taken?.giveBack();
        throw error;
      });
    });
  }

  /** Returns the part of the day's budget that the caller's network may use, for phones that are not known there. */
  async budgetOf({ ip }: Caller, ways: PricedWay[]): Promise<LimitName> {
    if (this.mode !== 'enforce') return 'sendInAllFromElsewhere';
    const network = await this.deps.traffic.ofNetwork(ip);
    if (isAnyBehind(network) || this.hasHadMuch(network, ways)) return 'sendInAllBehind';
    return network.isKnown ? 'sendInAllFromElsewhere' : 'sendInAllOfNewNetworks';
  }

  /** Judges a network as if all its codes had gone by the way that it asks for now: it may choose a dear one. */
  private hasHadMuch({ sent, verified }: Traffic, ways: PricedWay[]): boolean {
    const { amount } = this.deps.limiter.limits.sendInAll;
    return hasHadMuch({ sent: firstCostOf(ways) * sent, verified }, amount);
  }

  private async networkOf({ ip }: Caller, enter: (key: string) => number): Promise<NetworkTraffic> {
    const [ahead, aheadOfWide] = [enter(maskedAddress(ip)), enter(wideNetworkOf(ip))];
    const { sent, wider, ...network } = await this.deps.traffic.ofNetwork(ip);
    const widerWithAhead = wider.map(({ sent, verified }) => ({ sent: sent + aheadOfWide, verified }));
    return { ...network, sent: sent + ahead, wider: widerWithAhead };
  }

  private async judge(
    { phone, trust, ways }: Asking,
    network: NetworkTraffic,
    enter: (key: string) => number,
  ): Promise<Finding | undefined> {
    const region = countryOf(phone);
    const ahead = enter(region);
    const own = await this.deps.traffic.ofRegion(phone);
    const alarm = this.networkAlarm(network, trust, ways) ?? alarmOf(own) ?? burstOf(own, ahead, FLOOR.region);
    if (alarm) return { ...alarm, of: region, share: mostOpen(own, FLOOR.region) };
    return isProven(own) ? undefined : this.judgeTogether(enter(TOGETHER));
  }

  /** Accounts at a known place may use the whole budget, so a ring with its own accounts could exhaust it. */
  private networkAlarm(network: NetworkTraffic, trust: Trust, ways: PricedWay[]): NetworkAlarm | undefined {
    const { sent, verified, wider } = network;
    if (trust === 'known' && this.hasHadMuch(network, ways)) return { window: 'network', sent, verified };
    return [network, ...wider].map(alarmOfNetwork).find((alarm) => alarm !== undefined);
  }

  private async judgeTogether(ahead: number): Promise<Finding | undefined> {
    const all = await this.deps.traffic.ofUnproven();
    const alarm = alarmOfAll(all) ?? burstOf(all, ahead, FLOOR.together);
    return alarm && { ...alarm, of: TOGETHER, share: mostOpen(all, FLOOR.together) };
  }

  private async decide(finding: Finding, network: NetworkTraffic, asking: Asking): Promise<CountedUses | undefined> {
    if (finding.window !== 'network') this.alarmedUntil = this.now() + QUARTER_MS;
    try {
      const taken = this.mode === 'enforce' ? await this.admit(finding, network, asking) : undefined;
      await this.report(finding, 'let through', asking);
      return taken;
    } catch (error) {
      if (error instanceof SendingTooOften) await this.report(finding, 'refused', asking);
      throw error;
    }
  }

  /** Takes one of the codes that are left during an alarm, or refuses. */
  private async admit(finding: Finding, network: NetworkTraffic, asking: Asking): Promise<CountedUses | undefined> {
    const { phone, caller, trust } = asking;
    // A ring with its own accounts is known at its own addresses, so these have a limit in an alarm of their network.
    if (trust === 'known' && finding.window === 'network')
      return this.take(asking, [
        { limit: 'alarmCodesToKnown', subject: caller.address },
        { limit: 'alarmCodesToKnownPerNetwork', subject: maskedAddress(caller.ip) },
      ]);
    if (trust === 'known') return undefined;
    if (trust === 'elsewhere') return this.take(asking, usesOfAccount(phone, caller));
    if (finding.window === 'network' || isAnyBehind(network)) throw pausedFor(TEN_MINUTES);
    return this.takeOfShare(finding, network, asking);
  }

  /** Takes a code of the first portion with one left. A code of a network that is not known also counts for the wide one. */
  private async takeOfShare({ of, share }: Finding, { isKnown }: NetworkTraffic, asking: Asking): Promise<CountedUses> {
    const { caller, captcha } = asking;
    const { limiter } = this.deps;
    const { alarmShare, alarmShareOfWide } = limiter.limits;
    const wide = `${of} ${wideNetworkOf(caller.ip)}`;
    const ofWide = { limit: { ...alarmShareOfWide, amount: Math.ceil(MOST_OF_WIDE * share) }, subject: wide };
    const usesOf = (portion: Portion): LimitUse[] => {
      const amount = Math.max(1, Math.floor((PORTIONS[portion] * share) / SLICES));
      const ofPortion = { limit: { ...alarmShare, amount }, subject: `${of} ${portion}` };
      // Strangers in the wide network of a carrier do not use up the codes of its users.
      return portion === 'known' ? [ofPortion] : [ofPortion, ofWide];
    };
    const portions: Portion[] = [
      ...(isKnown ? ['known' as const] : []),
      ...(captcha === 'solved' ? ['captcha' as const] : []),
      'all',
    ];
    const refusals: SendingTooOften[] = [];
    for (const portion of portions) {
      try {
        return await this.take(asking, usesOf(portion));
      } catch (error) {
        if (!(error instanceof SendingTooOften)) throw error;
        refusals.push(error);
      }
    }
    const [refusal = pausedFor(TEN_MINUTES)] = refusals;
    if (captcha !== 'missing' || (await limiter.refusalOf(...usesOf('captcha')))) throw refusal;
    throw new SendingTooOften('captcha_required', 'codes are scarce at the moment: solve a captcha', {
      retryAfterSeconds: refusal.retryAfterSeconds ?? 1,
    });
  }

  private take({ caller, ways }: Asking, uses: LimitUse[]): Promise<CountedUses> {
    const count = firstCostOf(ways);
    // A phone gets one code, whatever it costs.
    const counted = uses.map((use) => (use.limit === 'alarmCodesPerPhone' ? use : { ...use, count }));
    return this.deps.limiter.take(caller, ...counted);
  }

  private async report(
    { share: _, ...finding }: Finding,
    decision: Decision,
    { phone, caller }: Asking,
  ): Promise<void> {
    const { region } = phone;
    this.alarms.add(tallied(finding.window, decision));
    const details = { region, country: countryOf(phone), decision, ...finding, requestId: caller.requestId };
    this.deps.logger.warn(details, 'spend guard: more codes are sent than is usual for those that are verified');
    const detail = `${decision}: ${wordsFor(finding)}`;
    await this.deps.audit.noteUpToLimit({ event: 'spend_guard', phone, detail }, caller);
  }
}

function pausedFor(retryAfterSeconds: number): SendingTooOften {
  return new SendingTooOften('sending_paused', 'codes to this region are paused for the moment', { retryAfterSeconds });
}

function isAnyBehind(network: NetworkTraffic): boolean {
  return [network, ...network.wider].some(isBehind);
}

function tallied(window: Alarm['window'], decision: Decision): string {
  return `${window.replace(' ', '_')} ${decision.replace(' ', '_')}`;
}

function usesOfAccount({ number }: Phone, { address }: Caller): LimitUse[] {
  return [
    { limit: 'alarmCodesPerPhone', subject: number },
    { limit: 'alarmCodesPerAddress', subject: address },
    { limit: 'alarmCodesToAccounts', subject: 'all' },
  ];
}

function wordsFor(finding: Alarm & { of: string }): string {
  const { of } = finding;
  if (finding.window === 'quarter hour') return `${of}, ${finding.open} not verified yet, at most ${finding.most}`;
  if (finding.window === 'network')
    return `${of}, ${finding.verified} of ${finding.sent} of one network in the last day`;
  const { verified, sent, window, usual } = finding;
  return `${of}, ${Math.round(verified)} of ${sent} in the last ${window}, ${Math.round(100 * usual)} % before`;
}
