import type { Knex } from 'knex';
import { deleteInBatches } from '../../database/delete-in-batches';
import { aroundOf, maskedAddress } from '../../base/networks';
import { statement } from '../../database/statement';
import { countryOf, type Phone } from '../phones/phone-number';
import { PROVEN_ROW, SHARE_OF_ONE, type RegionTraffic, type Traffic } from './alarm';

/** A code is judged five minutes after the end of its slot: by then its owner has typed it. */
const SETTLED = `slot + interval '15 minutes' <= now()`;
const SLOTS_A_QUARTER_HOUR = 1.5;

const sum = (what: string, condition: string) => `coalesce(sum(${what}) FILTER (WHERE ${condition}), 0)::integer`;

function sums(name: string, condition: string): string {
  const settled = `${condition} AND ${SETTLED}`;
  return `${sum('sent', settled)} AS ${name}_sent, ${sum('verified', settled)} AS ${name}_verified`;
}

const HOUR = sums('hour', `slot > now() - interval '75 minutes'`);
const DAY = sums('day', `slot > now() - interval '1 day'`);
const PAST = `slot <= now() - interval '1 day'`;
const OPEN = `${sum('sent - verified', `NOT (${SETTLED})`)} AS open`;

const IS_NEAR = 'network LIKE ANY (:near::text[])';

type Row = Record<string, number>;

/** Also reads rows by calling code, from before regions were countries. */
const trafficOfRegion = statement<Row, 'country' | 'callingCode'>(
  'traffic-of-region',
  `SELECT ${HOUR}, ${DAY}, ${OPEN} FROM sms_traffic
    WHERE region IN (:country, :callingCode) AND slot > now() - interval '1 day'`,
);

const pastOf = statement<Row, 'country' | 'callingCode'>(
  'past-of-region',
  `SELECT coalesce(sum(sent), 0)::integer AS past_sent, coalesce(sum(verified), 0)::integer AS past_verified,
          count(*)::integer AS past_slots
     FROM sms_traffic
    WHERE region IN (:country, :callingCode) AND slot > now() - interval '15 days' AND ${PAST}`,
);

/** Time for which a past is remembered: as long as a slot, so that it lacks at most one of 2,016. */
const PAST_MS = 600_000;

const trafficTogether = statement<Row>(
  'traffic-of-unproven-regions',
  `WITH regions AS (
     SELECT ${HOUR}, ${DAY}, ${OPEN} FROM sms_traffic WHERE slot > now() - interval '1 day' GROUP BY region)
   SELECT ${total('hour', SHARE_OF_ONE.hour)}, ${total('day', SHARE_OF_ONE.day)}, coalesce(sum(open), 0)::integer AS open
     FROM regions WHERE NOT (${PROVEN_ROW})`,
);

const trafficOfNetwork = statement<Traffic & { isKnown: boolean }, 'network'>(
  'traffic-of-network',
  `SELECT coalesce(sum(sent), 0)::integer AS sent, coalesce(sum(verified), 0)::integer AS verified,
          EXISTS (SELECT FROM sms_networks
                   WHERE network = :network AND slot > now() - interval '15 days' AND verified > 0) AS "isKnown"
     FROM sms_networks WHERE network = :network AND slot > now() - interval '1 day'`,
);

/** Maximum networks that are summed up around one. Only a large provider has as many in a /32. */
const MOST_AROUND = 2_000;
/** Codes of one network around another that count without being verified: one customer does not judge all others. */
const MOST_COUNTED = 5;

/** The traffic of a /32 of IPv6, and of one /40 in it. */
const trafficAround = statement<Row, 'from' | 'below' | 'near'>(
  'traffic-around-network',
  `SELECT ${sum('sent', 'true')} AS wide_sent, ${sum('verified', 'true')} AS wide_verified,
          ${sum('sent', IS_NEAR)} AS near_sent, ${sum('verified', IS_NEAR)} AS near_verified
     FROM (SELECT network, sum(verified) AS verified,
                  sum(verified) + least(sum(sent) - sum(verified), ${MOST_COUNTED}) AS sent
             FROM sms_networks
            WHERE network >= :from AND network < :below AND slot > now() - interval '1 day'
            GROUP BY network LIMIT ${MOST_AROUND}) AS around`,
);

/** A region is proven when it verifies as many codes as the alarm asks for. */
const trafficOfDay = statement<Traffic & { proven: boolean }>(
  'traffic-of-day',
  `WITH regions AS (
     SELECT ${DAY} FROM sms_traffic WHERE slot > now() - interval '1 day' GROUP BY region)
   SELECT ${PROVEN_ROW} AS proven, sum(day_sent)::integer AS sent, sum(day_verified)::integer AS verified
     FROM regions GROUP BY 1`,
);

/** The codes that a network requested in the last day. */
export interface NetworkTraffic extends Traffic {
  /** Whether it has verified a code in the last fortnight. */
  isKnown: boolean;
  /** Traffic of its /40 and /32, for a network of IPv6 that is not known. */
  wider: Traffic[];
}

/** Numbers of codes sent and verified, per region and per network. VerificationRepository counts them. */
export class SmsTrafficRepository {
  /** Pasts by country. Reading one sums up a fortnight, ten times as many rows as the day. */
  private readonly pasts = new Map<string, { past: Row; until: number }>();

  constructor(
    private readonly db: Knex,
    private readonly now = () => performance.now(),
  ) {}

  async ofRegion(phone: Phone): Promise<RegionTraffic> {
    const region = { country: countryOf(phone), callingCode: phone.region };
    const [row = {}] = await trafficOfRegion(this.db, region);
    return trafficIn({ ...row, ...(await this.past(region)) });
  }

  private async past(region: { country: string; callingCode: string }): Promise<Row> {
    const known = this.pasts.get(region.country);
    if (known && known.until > this.now()) return known.past;
    const [past = {}] = await pastOf(this.db, region);
    this.pasts.set(region.country, { past, until: this.now() + PAST_MS });
    return past;
  }

  /** Returns the traffic of all unproven regions together. Most are small, and have no past worth reading. */
  async ofUnproven(): Promise<RegionTraffic> {
    const [row = {}] = await trafficTogether(this.db, {});
    return trafficIn(row);
  }

  /** Returns all codes that the network of an address requested in the last day, judged or not. */
  async ofNetwork(ip: string): Promise<NetworkTraffic> {
    const [own] = await trafficOfNetwork(this.db, { network: maskedAddress(ip) });
    const around = aroundOf(ip);
    const { sent, verified, isKnown } = own ?? { sent: 0, verified: 0, isKnown: false };
    if (isKnown || !around) return { sent, verified, isKnown, wider: [] };
    const [row = {}] = await trafficAround(this.db, { ...around });
    return { sent, verified, isKnown, wider: [trafficOf(row, 'near'), trafficOf(row, 'wide')] };
  }

  /** Returns the judged codes of the last day, to proven regions and to others. */
  async ofDay(): Promise<(Traffic & { proven: boolean })[]> {
    return trafficOfDay(this.db, {});
  }

  async sweep(): Promise<void> {
    // A network that has verified a code is known for a fortnight.
    await deleteInBatches(this.db, 'sms_networks', `slot < now() - interval '16 days'`);
    const isOld = `slot < now() - interval '2 days' AND slot >= now() - interval '4 days'`;
    await deleteInBatches(this.db, 'sms_networks', `${isOld} AND verified = 0`);
    await deleteInBatches(this.db, 'sms_traffic', `slot < now() - interval '16 days'`);
  }
}

/** Sums at most `most` codes per region, and reduces its verified codes by the same factor. */
function total(name: string, most: number): string {
  const [sent, verified] = [`${name}_sent`, `${name}_verified`];
  return `coalesce(sum(least(${sent}, ${most})), 0)::float8 AS ${sent},
          coalesce(sum(${verified} * least(1, ${most}::float8 / greatest(${sent}, 1))), 0)::float8 AS ${verified}`;
}

function trafficIn(row: Row): RegionTraffic {
  const past = trafficOf(row, 'past');
  const usualQuarter = (SLOTS_A_QUARTER_HOUR * past.sent) / Math.max(1, row.past_slots ?? 0);
  return { hour: trafficOf(row, 'hour'), day: trafficOf(row, 'day'), past, usualQuarter, open: row.open ?? 0 };
}

function trafficOf(row: Row, name: string): Traffic {
  return { sent: row[`${name}_sent`] ?? 0, verified: row[`${name}_verified`] ?? 0 };
}
