import type { Logger } from 'pino';
import type { Caller } from '../../base/caller';
import { SendingTooOften, TooManyRequests } from '../../base/errors';
import { SendingTimedOut } from '../../integrations/senders/sender';
import type { Background } from '../../load/background';
import type { AuditTrail } from '../audit/audit-trail';
import type { SecurityEventsRepository } from '../audit/security-events-repository';
import type { Limiter, LimitMet, CountedUses, LimitUse } from '../limits/limiter';
import { isWithin, masked, type OwnPhone, type Phone } from '../phones/phone-number';
import { firstCostOf, type Routes } from '../sending/routes';
import type { Sending } from '../sending/sending';
import type { Words } from '../sending/words';
import type { Happening } from '../sending/words-files';
import type { UsersRepository } from '../users/users-repository';
import { isNewDevice } from './known-devices';

export interface NoticeRules {
  notify: 'off' | 'sms';
  /** Calling codes, and ISO codes of countries. Empty: no limit. */
  allowedRegions: string[];
}

export interface Owner {
  id: string;
  phone: OwnPhone;
}

interface Deps {
  words: Words;
  routes: Routes;
  sending: Sending;
  users: UsersRepository;
  securityEvents: Pick<SecurityEventsRepository, 'loginsBefore'>;
  limiter: Limiter;
  audit: AuditTrail;
  background: Background;
  logger: Pick<Logger, 'warn'>;
}

/**
 * Notifies owners by SMS of changes to their accounts, so that victims hear of attacks. Notices are sent after the
 * answer, so that they neither delay a request nor make it fail.
 */
export class Notices {
  constructor(
    private readonly deps: Deps,
    private readonly rules: NoticeRules,
  ) {}

  /** Notifies the owner. Call it once the change has been committed. */
  notify(happening: Happening, owner: Owner, caller: Caller): void {
    this.afterAnswer(happening, () => this.send(happening, owner, caller));
  }

  /** Notifies the owner of a login on a new device. */
  loggedIn(userId: string, caller: Caller): void {
    const { users, securityEvents } = this.deps;
    this.afterAnswer('new_device', async () => {
      if (!(await isNewDevice(securityEvents, userId, caller))) return;
      const [phone] = await users.phonesOf(userId);
      if (phone) await this.send('new_device', { id: userId, phone }, caller);
    });
  }

  /** Notifies the owner of the last failed login of the day that a phone may have, if it has an account. */
  limitMet({ limit, subject }: Parameters<LimitMet>[0], caller: Caller): void {
    const { users, limiter } = this.deps;
    if (limit.name !== limiter.limits.loginFailuresPerPhone.name) return;
    this.afterAnswer('locked_out', async () => {
      const account = await users.profileByPhone(subject);
      const phones = account ? await users.phonesOf(account.id) : [];
      const phone = phones.find(({ number }) => number === subject);
      if (account && phone) await this.send('locked_out', { id: account.id, phone }, caller);
    });
  }

  private afterAnswer(happening: Happening, work: () => Promise<void>): void {
    if (this.rules.notify === 'off') return;
    this.deps.background.run(work, `the owner of an account was not notified: ${happening}`);
  }

  private async send(happening: Happening, { id, phone }: Owner, caller: Caller): Promise<void> {
    const { routes, sending, words, audit } = this.deps;
    const { allowedRegions } = this.rules;
    if (!isWithin(phone, allowedRegions)) return;
    if (phone.isTest) return;
    const ways = routes.forNotice(phone);
    const budget: LimitUse = { limit: 'sendInAll', subject: 'all', count: firstCostOf(ways) };
    const taken = await this.placeFor([...usesOf(happening, phone, caller), budget], caller);
    if (!taken) return;
    try {
      const body = words.notice(happening, phone.language);
      await sending.send(ways, { to: phone.number, body: () => body }, ({ cost }) => taken.countAs(cost));
    } catch (error) {
      this.warn(error, happening, phone, caller);
      // After a time-out the message may still arrive.
      if (!(error instanceof SendingTimedOut)) await taken.giveBack();
      return;
    }
    await audit.note({ event: 'notice_sent', userId: id, phone, detail: happening }, caller);
  }

  /** Returns undefined when a limit is met, such as the hourly limit of the phone. */
  private async placeFor(uses: LimitUse[], caller: Caller): Promise<CountedUses | undefined> {
    try {
      return await this.deps.limiter.take(caller, ...uses);
    } catch (error) {
      if (error instanceof TooManyRequests || error instanceof SendingTooOften) return undefined;
      throw error;
    }
  }

  private warn(error: unknown, happening: Happening, phone: Phone, { requestId }: Caller): void {
    const details = { err: error, happening, phone: masked(phone.number), requestId };
    this.deps.logger.warn(details, 'the owner of an account was not notified');
  }
}

function usesOf(happening: Happening, { number }: Phone, { address }: Caller): LimitUse[] {
  const ofItsKind: LimitUse[] =
    happening === 'new_device'
      ? [
          { limit: 'newDeviceNoticesPerPhone', subject: number },
          { limit: 'newDeviceNoticesPerAddress', subject: address },
        ]
      : [{ limit: 'otherNoticesPerPhone', subject: number }];
  return [
    { limit: 'noticesPerPhone', subject: number },
    ...ofItsKind,
    ...(happening === 'locked_out' ? [{ limit: 'lockOutNoticesPerPhone', subject: number } as const] : []),
  ];
}
