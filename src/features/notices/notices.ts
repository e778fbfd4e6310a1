import type { Logger } from 'pino';
import type { Caller } from '../../base/caller';
import { SendingTooOften, TooManyRequests } from '../../base/errors';
import { SendingTimedOut, type SmsSender } from '../../integrations/sms/sms-sender';
import type { Background } from '../../load/background';
import type { AuditTrail } from '../audit/audit-trail';
import type { Limiter, LimitMet, Taken, Use } from '../limits/limiter';
import { isWithin, masked, type Phone } from '../phones/phone-number';
import type { UsersRepository } from '../users/users-repository';
import type { KnownDevices } from './known-devices';

/** What an owner is told of. */
export type Happening =
  'password_reset' | 'password_changed' | 'new_device' | 'locked_out' | 'phone_changed' | 'account_closed';

export interface NoticeRules {
  notify: 'off' | 'sms';
  texts: Record<Happening, string>;
  /** Calling codes, and ISO codes of countries. Empty: all are allowed. */
  allowedRegions: string[];
}

export interface Owner {
  id: string;
  phone: Phone;
}

interface Parts {
  sms: SmsSender;
  users: UsersRepository;
  devices: KnownDevices;
  limiter: Limiter;
  audit: AuditTrail;
  background: Background;
  logger: Pick<Logger, 'warn'>;
}

/**
 * Tells owners by SMS what happened to their accounts, so that whoever is attacked hears of it. Behind the answers: a
 * notice delays nothing, and fails nothing.
 */
export class Notices {
  constructor(
    private readonly parts: Parts,
    private readonly rules: NoticeRules,
  ) {}

  /** After what it tells of has been committed. */
  notify(happening: Happening, owner: Owner, caller: Caller): void {
    this.behindAnswer(happening, () => this.send(happening, owner, caller));
  }

  /** Tells of a login when its device is a new one. */
  loggedIn(userId: string, caller: Caller): void {
    const { users, devices } = this.parts;
    this.behindAnswer('new_device', async () => {
      if (!(await devices.isNew(userId, caller))) return;
      const [phone] = await users.phonesOf(userId);
      if (phone) await this.send('new_device', { id: userId, phone }, caller);
    });
  }

  /** Tells of a phone's last failed login of the day, if it has an account. */
  limitMet({ limit, subject }: Parameters<LimitMet>[0], caller: Caller): void {
    const { users, limiter } = this.parts;
    if (limit.name !== limiter.limits.loginFailuresPerPhone.name) return;
    this.behindAnswer('locked_out', async () => {
      const account = await users.profileByPhone(subject);
      const phones = account ? await users.phonesOf(account.id) : [];
      const phone = phones.find(({ number }) => number === subject);
      if (account && phone) await this.send('locked_out', { id: account.id, phone }, caller);
    });
  }

  private behindAnswer(happening: Happening, work: () => Promise<void>): void {
    if (this.rules.notify === 'off') return;
    this.parts.background.run(work, `the owner of an account was not told: ${happening}`);
  }

  private async send(happening: Happening, { id, phone }: Owner, caller: Caller): Promise<void> {
    const { sms, audit } = this.parts;
    const { texts, allowedRegions } = this.rules;
    if (!isWithin(phone, allowedRegions)) return;
    const taken = await this.placeFor(happening, phone, caller);
    if (!taken) return;
    try {
      await sms.send({ to: phone.number, body: texts[happening] });
    } catch (error) {
      this.warn(error, happening, phone, caller);
      // After a time-out it may still arrive.
      if (!(error instanceof SendingTimedOut)) await taken.giveBack();
      return;
    }
    await audit.note({ event: 'notice_sent', userId: id, phone, detail: happening }, caller);
  }

  /** Undefined when a limit is met, such as that of the phone's hour. */
  private async placeFor(happening: Happening, phone: Phone, caller: Caller): Promise<Taken | undefined> {
    try {
      return await this.parts.limiter.take(caller, ...usesOf(happening, phone, caller));
    } catch (error) {
      if (error instanceof TooManyRequests || error instanceof SendingTooOften) return undefined;
      throw error;
    }
  }

  private warn(error: unknown, happening: Happening, phone: Phone, { requestId }: Caller): void {
    const details = { err: error, happening, phone: masked(phone.number), requestId };
    this.parts.logger.warn(details, 'the owner of an account was not told');
  }
}

function usesOf(happening: Happening, { number }: Phone, { address }: Caller): Use[] {
  const ofItsKind: Use[] =
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
    { limit: 'sendInAll', subject: 'all' },
  ];
}
