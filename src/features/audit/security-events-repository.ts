import type { Knex } from 'knex';
import { deleteInBatches } from '../../database/delete-in-batches';
import { prepared } from '../../database/prepared';
import { masked } from '../users/phone-number';
import type { Caller } from './caller';

export type SecurityEventName =
  | 'code_sent'
  | 'code_refused'
  | 'code_wrong'
  | 'code_verified'
  | 'spend_guard'
  | 'registered'
  | 'logged_in'
  | 'login_failed'
  | 'password_changed'
  | 'password_reset'
  | 'sessions_ended'
  | 'limit_met';

export interface SecurityEvent {
  event: SecurityEventName;
  userId?: string | undefined;
  /** Only its mask is kept. */
  phone?: { number: string; region?: string };
  detail?: string;
}

/** The audit trail's table, to which rows are only added. */
export class SecurityEventsRepository {
  constructor(private readonly db: Knex) {}

  async add({ event, userId, phone, detail }: SecurityEvent, caller: Caller): Promise<void> {
    await prepared(
      this.db,
      'add-security-event',
      `INSERT INTO security_events (event, user_id, phone, region, ip, user_agent, request_id, detail)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        ...[event, userId ?? null, phone ? masked(phone.number) : null, phone?.region ?? null],
        ...[caller.ip, caller.userAgent, caller.requestId, detail ?? null],
      ],
    );
  }

  async sweep(days: number): Promise<void> {
    await deleteInBatches(this.db, 'security_events', 'at < now() - make_interval(days => ?)', [days]);
  }
}
