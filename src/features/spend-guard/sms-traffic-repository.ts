import type { Knex } from 'knex';
import { deleteInBatches } from '../../database/delete-in-batches';
import { statement } from '../../database/statement';

/** Codes sent, and how many of these were verified. */
export interface Traffic {
  sent: number;
  verified: number;
}

export interface RegionTraffic {
  hour: Traffic;
  day: Traffic;
  /** The fortnight before the day. */
  past: Traffic;
}

/** A code is judged five minutes after the end of its slot: by then its owner has typed it. */
const SETTLED = `slot + interval '15 minutes' <= now()`;

function sums(name: string, condition: string): string {
  const sum = (column: string) => `coalesce(sum(${column}) FILTER (WHERE ${condition}), 0)::integer`;
  return `${sum('sent')} AS ${name}_sent, ${sum('verified')} AS ${name}_verified`;
}

const trafficOf = statement<Record<string, number>, 'region'>(
  'traffic-of-region',
  `SELECT ${sums('hour', `slot > now() - interval '75 minutes'`)},
          ${sums('day', `slot > now() - interval '1 day'`)},
          ${sums('past', `slot <= now() - interval '1 day'`)}
     FROM sms_traffic WHERE region = :region AND slot > now() - interval '15 days' AND ${SETTLED}`,
);

/** How many codes to a region were sent and verified; VerificationRepository counts them. */
export class SmsTrafficRepository {
  constructor(private readonly db: Knex) {}

  async of(region: string): Promise<RegionTraffic> {
    const [row = {}] = await trafficOf(this.db, { region });
    const traffic = (name: string) => ({ sent: row[`${name}_sent`] ?? 0, verified: row[`${name}_verified`] ?? 0 });
    return { hour: traffic('hour'), day: traffic('day'), past: traffic('past') };
  }

  async sweep(): Promise<void> {
    await deleteInBatches(this.db, 'sms_traffic', `slot < now() - interval '16 days'`);
  }
}
