import type { NumberClaim } from '../features/account/number-claims-repository';
import { masked } from '../features/phones/phone-number';
import type { SessionRow } from '../features/sessions/sessions-repository';
import type { Row } from './command';
import type { FoundEvent, FoundLimit } from './support-repository';

export function limitRow({ limit, subject, used, amount, ends }: FoundLimit): Row {
  return { limit, subject, used, amount, ends };
}

export function sessionRow({ id, createdAt, renewedAt, ip, userAgent }: SessionRow): Row {
  const [begun, renewed] = [createdAt, renewedAt].map((at) => new Date(at).toISOString());
  return { id, createdAt: begun, renewedAt: renewed, ip, userAgent };
}

export function eventRows(found: FoundEvent[]): Row[] {
  return found.map((event): Row => ({ ...event }));
}

export function claimRow({ phone, claimedAt, dueAt }: NumberClaim): Row {
  return { phone: masked(phone), since: claimedAt.toISOString(), due: dueAt.toISOString() };
}
