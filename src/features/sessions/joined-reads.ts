import type { SessionData } from 'express-session';
import { OWNER, type OwnerReads } from '../../database/owner-reads';
import { formFor, type PreparedQuery, type Runner } from '../../database/statement';
import { hasOwner, liveSessionSql, unexpiredSession } from './live-session';

interface Joined {
  _sess: string;
  /** Null if the session is good but the statement has found nothing. */
  _found: true | null;
}

interface FirstRead<Row> {
  /** Undefined for a session that is not good. */
  session: Partial<SessionData> | undefined;
  rows: Row[];
}

/** Returns the user of a good session, and throws for any other. */
type Check = (session: Partial<SessionData> | undefined) => Promise<string>;

// eslint-disable-next-line no-restricted-syntax -- a cache of texts that depend on nothing else
const joinedQueries = new Map<string, PreparedQuery>();

/**
 * Joins the check of the session with the first statement: two round trips and two plans become one. Where users are on
 * several servers, the session is found first, and its user beside the statement. The rows are returned once `check` has
 * accepted the session. Until then only one statement runs at a time.
 */
export class JoinedReads implements OwnerReads {
  whenFound: OwnerReads['whenFound'] = () => Promise.resolve();
  private userId: string | undefined;

  constructor(
    private readonly reads: Runner,
    private readonly sid: string,
    private readonly check: Check,
  ) {}

  async run<Row>(query: PreparedQuery, values: unknown[]): Promise<Row[]> {
    if (this.userId !== undefined) return this.reads.run<Row>(query, withOwner(values, this.userId));
    const read = formFor(
      this.reads,
      () => this.with<Row>(query, values),
      () => this.beside<Row>(query, values),
    );
    const { session, rows } = await read();
    const userId = await this.check(session);
    await this.whenFound(userId);
    this.userId = userId;
    return rows;
  }

  checkAgain(): void {
    this.userId = undefined;
    this.whenFound = () => Promise.resolve();
  }

  get usage(): Runner['usage'] {
    return this.reads.usage;
  }

  private async with<Row>(query: PreparedQuery, values: unknown[]): Promise<FirstRead<Row>> {
    const others = values.filter((value) => value !== OWNER);
    const found = await this.reads.run<Joined & Row>(joined(query, values), [this.sid, ...others]);
    return {
      session: found[0] && (JSON.parse(found[0]._sess) as Partial<SessionData>),
      rows: found.flatMap(({ _sess, _found, ...row }) => (_found ? [row as Row] : [])),
    };
  }

  private async beside<Row>(query: PreparedQuery, values: unknown[]): Promise<FirstRead<Row>> {
    const session = await unexpiredSession(this.reads, this.sid);
    if (session?.userId === undefined) return { session: undefined, rows: [] };
    const read = this.reads.run<Row>(query, withOwner(values, session.userId));
    const [isGood, rows] = await Promise.all([hasOwner(this.reads, session), read]);
    return { session: isGood ? session : undefined, rows };
  }
}

function withOwner(values: unknown[], userId: string): unknown[] {
  return values.map((value) => (value === OWNER ? userId : value));
}

function joined({ name, text }: PreparedQuery, values: unknown[]): PreparedQuery {
  const ownName = `${name} ${values.map((value) => (value === OWNER ? 'owner' : 'given')).join(' ')}`;
  const known = joinedQueries.get(ownName);
  if (known) return known;
  // The session's id is $1: the other values follow, without the owner, who is read with the session.
  const placeholders: string[] = [];
  let next = 2;
  for (const value of values) placeholders.push(value === OWNER ? 'signed_in.user_id' : `$${next++}`);
  const asked = text.replace(/\$(\d+)/g, (_, number: string) => placeholders[Number(number) - 1] ?? '');
  const made = {
    name: ownName,
    text: `SELECT signed_in.sess::text AS "_sess", answer.*
             FROM (${liveSessionSql('$1')}) signed_in
             LEFT JOIN LATERAL (SELECT true AS "_found", asked.* FROM (${asked}) asked) answer ON true`,
  };
  joinedQueries.set(ownName, made);
  return made;
}
