import type { Knex } from 'knex';
import { isoTime, statement } from '../../database/statement';
import type { WayTraffic } from './routes';

/** A code is judged after five minutes: by then its owner has typed it. */
const trafficOfWays = statement<WayTraffic, 'country'>(
  'traffic-of-ways',
  `SELECT way, count(*)::integer AS sent, count(verified_at)::integer AS verified,
          count(*) FILTER (WHERE receipt <> '')::integer AS told,
          count(*) FILTER (WHERE receipt = 'delivered')::integer AS delivered
     FROM verification_codes
    WHERE country = :country AND way <> ''
      AND created_at > now() - interval '1 day' AND created_at < now() - interval '5 minutes'
    GROUP BY way ORDER BY way`,
);

/** A code that was sent. */
interface LastCode {
  /** Empty for a code of the version before, and of a test number. */
  way: string;
  at: string;
  isVerified: boolean;
  /** Empty until the provider has told. */
  receipt: string;
}

const lastCode = statement<LastCode, 'phone'>(
  'last-code',
  `SELECT way, ${isoTime('created_at')} AS at, verified_at IS NOT NULL AS "isVerified", receipt FROM verification_codes
    WHERE phone = :phone ORDER BY id DESC LIMIT 1`,
);

/** Time for which the traffic of a country is remembered. */
const REMEMBERED_MS = 60_000;

/** The ways that codes took, by country. */
export class WaysRepository {
  private readonly remembered = new Map<string, { traffic: WayTraffic[]; until: number }>();

  constructor(
    private readonly db: Knex,
    private readonly now = () => performance.now(),
  ) {}

  async traffic(country: string): Promise<WayTraffic[]> {
    const known = this.remembered.get(country);
    if (known && known.until > this.now()) return known.traffic;
    const traffic = await trafficOfWays(this.db, { country });
    this.remembered.set(country, { traffic, until: this.now() + REMEMBERED_MS });
    return traffic;
  }

  async lastCode(phone: string): Promise<LastCode | undefined> {
    const [last] = await lastCode(this.db, { phone });
    return last;
  }

  /** Returns the way of the phone's last code, if that code was not verified. */
  async failedWay(phone: string): Promise<string | undefined> {
    const last = await this.lastCode(phone);
    return last && !last.isVerified ? last.way : undefined;
  }
}
