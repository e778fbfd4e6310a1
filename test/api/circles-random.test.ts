import { randomInt } from 'node:crypto';
import { amount } from '../support/amounts';
import { startApp, type TestApp } from '../support/app';
import type { Answer } from '../support/calls';
import { Choices } from '../support/choices';
import { CALLS, NextCall, type World } from '../support/circle-calls';
import { brokenRules, pendingEnds } from '../support/circle-rules';
import { befriend } from '../support/groups';
import { instancesBeside } from '../support/instances';
import { field } from '../support/people';
import { NAMES, pause } from '../support/sync';
import { NotSynced, Walker, type Instances } from '../support/walker';

const PEOPLE = amount(30, 12, 30);
const AT_ONCE = 12;
const READERS = 3;
const TURNS = amount(2_500);
const CHECK_EVERY_MS = 1_000;
/** One turn in this number changes a phone, one closes an account, and one lets requests grow old. */
const LIFE_EVERY = 150;
/** One call in this number is made at once by all members of a group, or by two friends. */
const TOGETHER_EVERY = 6;
const GROUPS_KNOWN = 8;
/** Groups that are often full, users who often have too many, and no other limits. */
const ENV = {
  LOG_LEVEL: 'warn',
  DATABASE_POOL_MAX: '10',
  GROUP_MAX_MEMBERS: '8',
  GROUPS_PER_USER: '3',
  GROUPS_JOINED_PER_USER: '6',
  FRIEND_REQUESTS_PER_USER_DAY: '0',
  GROUPS_CREATED_PER_USER_DAY: '0',
};
const MOST_GROUPS = { made: Number(ENV.GROUPS_PER_USER), joined: Number(ENV.GROUPS_JOINED_PER_USER) };
/** 503 is for a machine that is busy with something else. */
const ALLOWED = [200, 400, 403, 404, 503, 1000];
const NOT_SIGNED_IN = 401;

const seed = Number(process.env.CIRCLES_SEED ?? randomInt(2 ** 31));
const seconds = Number(process.env.CIRCLES_SECONDS ?? 0);

describe(`${PEOPLE} users acting at random on two instances`, () => {
  let app: TestApp;
  let instances: Instances;
  let world: World;
  let isGoing: boolean;
  const complaints: string[] = [];
  const answers: Record<string, number> = {};
  const instance = instancesBeside(() => app, ENV);

  beforeAll(async () => {
    app = await startApp(ENV);
  });
  afterAll(() => app.close());

  /** Counts the answer, and reports one that should not happen. */
  async function observed(walker: Walker, path: string, ask: () => Promise<Answer>): Promise<Answer> {
    const { moves, isMoving } = walker;
    const answer = await ask();
    const code = Number(field(answer.body, 'code'));
    const operation = path.replace(/\/\d+$/, '');
    answers[`${operation} ${code}`] = (answers[`${operation} ${code}`] ?? 0) + 1;
    const mayHaveEnded = isMoving || walker.moves !== moves;
    if (!ALLOWED.includes(code) && !(code === NOT_SIGNED_IN && mayHaveEnded))
      complaints.push(`${operation}: ${JSON.stringify(answer.body)}`);
    return answer;
  }

  const call = (walker: Walker, path: string, body?: object) => observed(walker, path, () => walker.post(path, body));
  const newWalker = (index: number) => Walker.start(instances, index % 2 === 0 ? NAMES : undefined, call);

  async function act(choices: Choices): Promise<void> {
    const index = choices.numberBelow(PEOPLE);
    const me = world.walkers[index];
    if (!me) return;
    const life = choices.numberBelow(LIFE_EVERY);
    if (life === 2) return endRequests(me);
    if (life < 2 && !me.isMoving) return life === 0 ? closeAndReplace(me, index) : changePhone(me);
    const path = choices.oneOf(CALLS);
    const next = new NextCall(me, world, choices);
    const body = next.bodyOf(path);
    const others = choices.numberBelow(TOGETHER_EVERY) === 0 ? next.othersIn(body) : [];
    const [answer] = await Promise.all([
      call(me, path, body),
      ...others.map((other) => call(other, path, { ...body, ...(body.friendId && { friendId: me.id }) })),
    ]);
    const id = path === '/group/create' ? field(field(answer.body, 'result'), 'id') : undefined;
    if (typeof id === 'string') world.groups = [id, ...world.groups].slice(0, GROUPS_KNOWN);
  }

  async function changePhone(me: Walker): Promise<void> {
    await observed(me, '/user/change_phone', () => me.changePhone());
  }

  /** Makes requests 30 days old. The sweeps of the instances end them while the users go on. */
  async function endRequests(me: Walker): Promise<void> {
    const requests = app.db('friendships').where({ user_id: me.id, status: 10 });
    await requests.clone().update({ requested_at: new Date(0) });
    await Promise.all(instances.map((one) => one.sweep()));
    answers['requests swept'] = (answers['requests swept'] ?? 0) + 1;
  }

  async function closeAndReplace(me: Walker, index: number): Promise<void> {
    const { status } = await observed(me, '/user/close_account', () => me.close());
    if (status !== 200) return;
    world.walkers[index] = await newWalker(index);
  }

  async function read(reader: number): Promise<void> {
    for (let index = reader; isGoing; index = (index + READERS) % PEOPLE) {
      await world.walkers[index]?.client.sync().catch((error: unknown) => {
        if (!(error instanceof NotSynced)) throw error;
      });
    }
  }

  /** Returns how often the rules were checked. */
  async function check(): Promise<number> {
    for (let checks = 1; ; checks += 1) {
      complaints.push(...(await brokenRules(app.db, MOST_GROUPS, false)));
      if (!isGoing) return checks;
      await pause(CHECK_EVERY_MS);
    }
  }

  /** Returns the deadlocks that reached a client. All others were retried. */
  function deadlocks(): string[] {
    const lines = instances.flatMap(({ logged }) => logged()).map((line) => JSON.stringify(line));
    return lines.filter((line) => line.includes('deadlock detected'));
  }

  /** Reported after a long run. Its deadlocks are those that were retried. */
  async function summary(checks: number): Promise<object> {
    const sql = 'SELECT deadlocks::integer FROM pg_stat_database WHERE datname = current_database()';
    const { rows } = await app.db.raw<{ rows: { deadlocks: number }[] }>(sql);
    const byAnswer = Object.entries(answers).sort(([one], [other]) => (one < other ? -1 : 1));
    return { seed, seconds, checks, ...rows[0], answers: Object.fromEntries(byAnswer) };
  }

  async function walkAtRandom(): Promise<number> {
    const end = Date.now() + seconds * 1_000;
    let left = TURNS;
    const hasTime = () => (seconds > 0 ? Date.now() < end : left-- > 0);
    isGoing = true;
    const stop = () => (isGoing = false);
    const walk = async (choices: Choices): Promise<void> => {
      while (isGoing && complaints.length === 0 && hasTime()) await act(choices);
    };
    const walking = Promise.all(Array.from({ length: AT_ONCE }, (_, index) => walk(new Choices(seed + index))));
    const reading = Array.from({ length: READERS }, (_, reader) => read(reader));
    const [checks] = await Promise.all([check(), walking.finally(stop), ...reading]).finally(stop);
    return checks;
  }

  it(
    'break no rule at any moment, get no failure as an answer, and end with correct state in their clients',
    async () => {
      instances = [await instance(), await instance()];
      world = { walkers: [], groups: [] };
      for (let index = 0; index < PEOPLE; index += 1) world.walkers.push(await newWalker(index));
      for (const [index, walker] of world.walkers.entries())
        await befriend(app, walker, world.walkers.slice(index + 1, index + 6));

      const checks = await walkAtRandom();
      await app.sweep();
      complaints.push(
        ...(await brokenRules(app.db, MOST_GROUPS, true)),
        ...(await pendingEnds(app.db)),
        ...deadlocks(),
      );
      if (seconds > 0) process.stdout.write(`${JSON.stringify(await summary(checks), null, 2)}\n`);
      expect({ seed, complaints: [...new Set(complaints)].slice(0, 5) }).toEqual({ seed, complaints: [] });
      expect(checks).toBeGreaterThan(1);

      for (const walker of world.walkers) {
        await walker.client.sync();
        expect({ seed, state: walker.client.state() }).toEqual({ seed, state: await walker.fullState() });
      }
    },
    600_000 + seconds * 1_500,
  );
});
