import type { Horizons } from '../../database/horizons';
import { statement, type Source } from '../../database/statement';

/** A version is a transaction id: it does not tell how old the horizon is. */
const oldestWriter = statement<{ oldest: string | null }>(
  'sync-oldest-writer',
  `SELECT CASE WHEN pg_snapshot_xmin(seen) < pg_snapshot_xmax(seen) THEN pg_snapshot_xmin(seen)::text END AS oldest
     FROM pg_current_snapshot() AS seen`,
);

/**
 * Measures how long one transaction has held the horizon of syncs back, from when this process first saw it: PostgreSQL
 * does not tell the service's role when a transaction of another role began.
 */
export class HorizonAge {
  private seen: { oldest: string; since: number } | undefined;

  constructor(
    private readonly reads: Source,
    private readonly horizons: Pick<Horizons, 'areSeveral' | 'seconds'>,
    private readonly now = () => performance.now(),
  ) {}

  /** Returns 0 while no transaction holds the horizon back, and when it first sees one that does. */
  async seconds(): Promise<number> {
    if (this.horizons.areSeveral) return this.horizons.seconds();
    const [row] = await oldestWriter(this.reads, {});
    const oldest = row?.oldest ?? undefined;
    if (oldest === undefined) this.seen = undefined;
    else if (this.seen?.oldest !== oldest) this.seen = { oldest, since: this.now() };
    return this.seen ? (this.now() - this.seen.since) / 1_000 : 0;
  }
}
