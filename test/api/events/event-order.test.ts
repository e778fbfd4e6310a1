import type { Client } from 'pg';
import { untilEventsSeen } from '../../support/events';
import { Gate } from '../../support/gate';
import { callGroup, createGroup, idsOf } from '../../support/groups';
import { command } from '../../support/operator';
import { expectOk } from '../../support/people';
import { stage } from '../../support/stage';
import { startVendorServer, type VendorServer } from '../../support/stand-ins/vendor-server';
import { watchStatements } from '../../support/statements';
import { connectWriter } from '../../support/sync';
import { until } from '../../support/until';

const LOOPBACK = { WEBHOOK_NETWORKS: '127.0.0.0/8' };

describe('the events of a row', () => {
  const { app, ann, bob, cat } = stage({ people: 3, env: LOOPBACK });
  let group: string;
  let receiver: VendorServer;
  let writers: Client[];

  beforeEach(async () => {
    group = await createGroup(app, [ann, bob, cat]);
    receiver = await startVendorServer(200, () => ({ status: 200, json: {} }));
    writers = [];
    await untilEventsSeen(app);
    await command(app, 'webhooks add', [receiver.url, 'members.changed'], {}, LOOPBACK);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    for (const writer of writers) await writer.end();
    await app.db('webhooks').delete();
    await receiver.close();
  });

  async function connect(): Promise<Client> {
    const writer = await connectWriter(app);
    writers.push(writer);
    return writer;
  }
  /** Opens a transaction of another service, which has begun to write. */
  async function open({ id } = ann): Promise<Client> {
    const writer = await connect();
    await writer.query('BEGIN');
    await writer.query(`UPDATE friendships SET display_name = display_name || '.' WHERE user_id = $1`, [id]);
    return writer;
  }
  const rejoin = (writer: Client) =>
    writer.query('UPDATE group_members SET is_deleted = false WHERE (group_id, member_id) = ($1, $2)', [group, bob.id]);
  const quit = async () => expectOk(await callGroup(bob, 'quit', { groupId: group }));
  const told = () =>
    receiver.requests
      .map(({ body }) => (JSON.parse(body) as { data: { memberId: string; what: string } }).data)
      .filter(({ memberId }) => memberId === bob.id)
      .map(({ what }) => what);
  const untilTold = (count: number) => until(() => told().length === count);
  const isMember = async () =>
    (await app.db('group_members').where({ group_id: group, member_id: bob.id, is_deleted: false })).length > 0;

  // guard events-4: the last event of a membership tells how it is
  // migrations/0032_events_in_order.up.sql
  // - greatest(ended - own, 0)
  // + 0
  // guard events-5: events of transactions that began to write at the same time are in the order of their changes
  // migrations/0032_events_in_order.up.sql
  // - nextval('events_number')
  // + -nextval('events_number')
  it('are told in the order of its changes, though the last one is of the oldest transaction', async () => {
    const early = await open();
    await quit();
    await rejoin(early);
    await early.query('COMMIT');
    await untilTold(2);
    expect(told()).toEqual(['left', 'joined']);
  });

  it('are told in their order when a transaction in between ends last', async () => {
    const early = await open();
    const between = await open(cat);
    await quit();
    await rejoin(early);
    await early.query('COMMIT');
    // Readers see from here on what the oldest transaction has written.
    const seen = app.db.raw('version <= sync_horizon() AS "isSeen"');
    const row = app.db('group_members').where({ group_id: group, member_id: bob.id });
    await until(async () => (await row.clone().first<{ isSeen: boolean }>(seen)).isSeen);
    await between.query('COMMIT');
    await untilTold(2);
    expect(told()).toEqual(['left', 'joined']);
  });

  it('are told in their order of a transaction that is told of several', async () => {
    const early = await open();
    await quit();
    for (const isDeleted of [false, true, false])
      await early.query('UPDATE group_members SET is_deleted = $3 WHERE (group_id, member_id) = ($1, $2)', [
        group,
        bob.id,
        isDeleted,
      ]);
    await early.query('COMMIT');
    await untilTold(4);
    expect(told()).toEqual(['left', 'joined', 'left', 'joined']);
  });

  it('are told in their order of a transaction that sees only what was there when it began', async () => {
    const repeatable = await connect();
    const early = await open();
    await quit();
    await repeatable.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_current_xact_id()');
    await rejoin(repeatable);
    await repeatable.query('COMMIT');
    await early.query('COMMIT');
    await untilTold(2);
    expect(told()).toEqual(['left', 'joined']);
  });

  it('end as the database does after an add that was overtaken by a kick', async () => {
    const gate = new Gate();
    let isFirst = true;
    watchStatements('FROM group_sizes WHERE group_id = $1 FOR NO KEY UPDATE', {
      beforeSending: () => {
        const passes = isFirst ? gate.wait() : Promise.resolve();
        isFirst = false;
        return passes;
      },
    });
    const adding = callGroup(ann, 'add', { groupId: group, memberIds: idsOf([bob]) });
    await gate.reached;
    await expectOk(await callGroup(ann, 'kick', { groupId: group, memberIds: [bob.id] }));
    gate.open();
    await expectOk(await adding);
    expect(await isMember()).toBe(true);
    await untilTold(2);
    expect(told()).toEqual(['left', 'joined']);
  });
});
