import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { connectTo } from '../support/clusters';

type Statement = [sql: string, values: unknown[]];

/** Another service, which writes friendships and groups in plain SQL, and remembers what was committed. */
export class OtherService {
  /** Values that a row may have, by the statement that reads it. */
  private readonly promised = new Map<string, { ask: Statement; values: Set<string> }>();
  private client: Client | undefined;
  private count = 0;

  constructor(
    private readonly databaseUrl: () => string,
    private readonly people: () => { id: string }[],
    private readonly groups: string[],
    /** On several servers it has functions to call: docs/distributed.md. */
    private readonly callsFunctions: () => boolean,
  ) {}

  /** Runs one short transaction. */
  async act(): Promise<void> {
    const [ann, bob] = [this.somebody(), this.somebody()];
    const group = this.groups[randomInt(this.groups.length)] ?? '';
    if (ann === bob) return;
    const value = String((this.count += 1));
    const kinds: [change: Statement, ask: Statement][] = [
      [
        [
          `INSERT INTO friendships (user_id, friend_id, status, display_name) VALUES ($1, $2, 20, $3)
             ON CONFLICT (user_id, friend_id) DO UPDATE SET status = 20, display_name = excluded.display_name`,
          [ann, bob, value],
        ],
        ['SELECT display_name FROM friendships WHERE user_id = $1 AND friend_id = $2', [ann, bob]],
      ],
      [
        [
          `INSERT INTO group_members (group_id, member_id, display_name) VALUES ($1, $2, $3)
             ON CONFLICT (group_id, member_id) DO UPDATE SET display_name = excluded.display_name, is_deleted = NOT group_members.is_deleted`,
          [group, ann, value],
        ],
        ['SELECT display_name FROM group_members WHERE group_id = $1 AND member_id = $2', [group, ann]],
      ],
      [
        ['UPDATE groups SET name = $2 WHERE id = $1', [group, value]],
        ['SELECT name FROM groups WHERE id = $1', [group]],
      ],
    ];
    const [change, ask] = kinds[randomInt(kinds.length)] ?? [];
    if (change && ask) await this.write(change, ask, value);
  }

  async makeGroups(): Promise<void> {
    const client = await connectTo(this.databaseUrl());
    for (const id of this.groups)
      await client.query('INSERT INTO groups (id, name, creator_id) VALUES ($1, $1, $2)', [id, this.somebody()]);
    await client.end();
  }

  /** Returns committed changes that are missing. */
  async lost(client: Client): Promise<string[]> {
    const lost: string[] = [];
    for (const { ask, values } of this.promised.values()) {
      const { rows } = await client.query<Record<string, string>>(...ask);
      const [found = ''] = Object.values(rows[0] ?? {});
      if (!values.has(found)) lost.push(`${ask[0]}: ${found} instead of ${[...values].join(' or ')}`);
    }
    return lost;
  }

  async close(): Promise<void> {
    await this.client?.end().catch(() => undefined);
  }

  private async write(change: Statement, ask: Statement, value: string): Promise<void> {
    const key = JSON.stringify(ask);
    const promised = this.promised.get(key) ?? { ask, values: new Set(['']) };
    this.promised.set(key, promised);
    try {
      this.client ??= await connectTo(this.databaseUrl());
      await this.commit(this.client, change);
      promised.values.clear();
    } catch {
      await this.client?.end().catch(() => undefined);
      this.client = undefined;
      await sleep(100);
    }
    promised.values.add(value);
  }

  private async commit(client: Client, [sql, values]: Statement): Promise<void> {
    if (!this.callsFunctions()) return void (await client.query(sql, values));
    const users = this.people()
      .map(({ id }) => id)
      .filter((id) => values.includes(id));
    await client.query('BEGIN');
    await client.query('SELECT is_any_closed(VARIADIC $1::text[])', [users]);
    if (sql.includes('INTO group_members')) await client.query('SELECT user_joins($1, $2)', [values[1], values[0]]);
    await client.query(sql, values);
    await client.query('COMMIT');
  }

  private somebody(): string {
    const people = this.people();
    return people[randomInt(people.length)]?.id ?? '';
  }
}
