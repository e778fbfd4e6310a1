import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { Unavailable } from '../../src/base/errors';
import { HashingPool } from '../../src/features/auth/hashing-pool';
import { Passwords } from '../../src/features/auth/passwords';
import { Queue } from '../../src/load/queue';
import { QUEUES } from '../../src/load/queues';
import { PATIENT_MS } from '../support/patience';

const poolOf = (atOnce: number, waiting: number, waitMs: number) =>
  new HashingPool(new Queue({ ...QUEUES.hashing, atOnce, waiting, waitMs }));

describe('HashingPool', () => {
  let pool: HashingPool;
  afterEach(() => pool.close());

  /** Takes a thread about a quarter of a second. */
  const slow = () => pool.hash('secret1', 12, '');

  it('makes hashes that match the password', async () => {
    pool = poolOf(1, 10, PATIENT_MS);
    const hash = await pool.hash('secret1', 4, '');
    expect(hash).toMatch(/^\$2b\$04\$/);
    expect(await pool.compare('secret1', hash, '')).toBe(true);
    expect(await pool.compare('secret2', hash, '')).toBe(false);
  });

  it('returns each caller its own hash, with any number of concurrent calls', async () => {
    pool = poolOf(2, 100, PATIENT_MS);
    const passwords = Array.from({ length: 30 }, (_, index) => `secret${index}`);
    const hashes = await Promise.all(passwords.map((password) => pool.hash(password, 4, '')));
    const matches = await Promise.all(hashes.map((hash, index) => pool.compare(passwords[index] ?? '', hash, '')));
    expect(matches).toEqual(Array(30).fill(true));
  });

  it('does not block the event loop', async () => {
    pool = poolOf(1, 10, PATIENT_MS);
    await pool.hash('warm up', 4, '');
    let turns = 0;
    const clock = setInterval(() => (turns += 1), 5);
    await slow();
    clearInterval(clock);
    expect(turns).toBeGreaterThan(10);
  });

  // guard hashing-pool-3: the queue of hashing is bounded
  // src/load/queue.ts
  // - if (!newest) throw this.refusal();
  // + if (!newest) return;
  it('refuses with 503 at once what exceeds its queue, and serves the rest', async () => {
    pool = poolOf(1, 2, PATIENT_MS);
    let served = 0;
    const accepted = [slow(), slow(), slow()].map((hash) => hash.finally(() => (served += 1)));
    await expect(slow()).rejects.toBeInstanceOf(Unavailable);
    expect(served).toBe(0);
    await expect(Promise.all(accepted)).resolves.toHaveLength(3);
    await expect(slow()).resolves.toMatch(/^\$2b\$12\$/);
  });

  it('rejects all waiting calls when it is closed', async () => {
    pool = poolOf(1, 10, PATIENT_MS);
    const asked = Promise.allSettled([slow(), slow(), slow()]);
    await pool.close();
    const ends = [...(await asked), ...(await Promise.allSettled([slow()]))];
    expect(ends.map((end) => end.status === 'rejected' && end.reason instanceof Unavailable)).toEqual(
      Array(4).fill(true),
    );
  });

  it('reports an error of bcrypt, and serves the next call', async () => {
    pool = poolOf(1, 10, PATIENT_MS);
    await expect(pool.compare('secret1', 'no hash', '')).resolves.toBe(false);
    await expect(pool.compare('secret1', 5 as unknown as string, '')).rejects.toThrow('must be a string');
    await expect(pool.hash('secret1', 4, '')).resolves.toMatch(/^\$2b\$04\$/);
  });

  it('rejects the job of a thread that dies, and starts another thread', async () => {
    pool = poolOf(1, 10, PATIENT_MS);
    const lost = slow();
    const waiting = pool.hash('secret1', 4, '');
    const [thread] = Reflect.get(pool, 'threads') as Set<{ worker: Worker }>;
    const refused = expect(lost).rejects.toBeInstanceOf(Unavailable);
    await thread?.worker.terminate();
    await refused;
    await expect(waiting).resolves.toMatch(/^\$2b\$04\$/);
  });

  // guard hashing-pool-7: a password that has waited too long is not hashed
  // src/load/queue.ts
  // - setTimeout(waiting.refuse, waitMs)
  // + setTimeout(waiting.refuse, 2 ** 30)
  it('refuses a job that has waited too long, without hashing it', async () => {
    pool = poolOf(1, 10, 20);
    const order: string[] = [];
    const first = pool.hash('secret1', 13, '').then(() => order.push('hashed'));
    const late = [slow(), slow()].map((job) => job.catch((error: unknown) => order.push((error as Error).name)));
    await Promise.all([first, ...late]);
    expect(order).toEqual(['Unavailable', 'Unavailable', 'hashed']);
    await expect(pool.hash('secret1', 4, '')).resolves.toMatch(/^\$2b\$04\$/);
  });

  // guard hashing-pool-4: addresses take turns at hashing
  // src/load/queue.ts
  // - this.waiting.delete(sender);
  // - this.waiting.set(sender, jobs);
  it('takes addresses in turn: the first job of another address is hashed after one more job', async () => {
    pool = poolOf(1, 100, PATIENT_MS);
    const order: string[] = [];
    const ask = (from: string) => pool.hash('secret1', 4, from).then(() => order.push(from));
    const crowd = Array.from({ length: 20 }, () => ask('203.0.113.66'));
    await Promise.all([ask('198.51.100.9'), ...crowd, ask('198.51.100.10')]);
    expect(order.slice(0, 4).sort()).toEqual(['198.51.100.10', '198.51.100.9', '203.0.113.66', '203.0.113.66']);
  });

  // guard hashing-pool-1: a comparison with a hash of a lower cost takes one turn of hashing, like any other
  // src/features/auth/passwords.ts
  // - return this.bcrypt.compare(password, passwordHash, address, padding);
  // +     const matches = await this.bcrypt.compare(password, passwordHash, address);
  // +     for (const hash of padding) await this.bcrypt.compare(password, hash, address);
  // +     return matches;
  it('compares with a hash of a lower cost and its compensating hashes in one turn', async () => {
    pool = poolOf(1, 100, PATIENT_MS);
    const passwords = new Passwords(7, pool);
    const older = await pool.hash('secret1', 4, '');
    const order: string[] = [];
    const ask = (who: string, hash?: string) => passwords.matches('wrong-one', hash, who).then(() => order.push(who));
    await Promise.all([ask('198.51.100.9', older), ask('198.51.100.10'), ask('203.0.113.66', older)]);
    expect(order).toEqual(['198.51.100.9', '198.51.100.10', '203.0.113.66']);
  });

  // guard hashing-pool-2: hashes that compensate for a lower cost are compared
  // src/features/auth/hashing-worker.cjs
  // - for (const hash of padding) bcrypt.compareSync(password, hash);
  it.each(['secret1', 'wrong-one'])(
    'compares %s also with each hash that compensates for a lower cost',
    async (typed) => {
      pool = poolOf(1, 10, PATIENT_MS);
      const hash = await pool.hash('secret1', 4, '');
      expect(await pool.compare(typed, hash, '', [hash, hash])).toBe(typed === 'secret1');
      // bcrypt's error about the last hash shows that it was compared.
      await expect(pool.compare(typed, hash, '', [hash, 5 as unknown as string])).rejects.toThrow('must be a string');
    },
  );

  // guard hashing-pool-8: threads that hash do not raise their priority
  // src/features/auth/hashing-worker.cjs
  // - os.setPriority(0, Math.min(19, os.getPriority(0) + 1))
  // + os.setPriority(0, 1)
  (process.platform === 'linux' ? it : it.skip)(
    'makes hashes where the process was started with a low priority',
    () => {
      const worker = join(__dirname, '../../src/features/auth/hashing-worker.cjs');
      const hashOnce = `
      const { Worker } = require('node:worker_threads');
      const worker = new Worker(${JSON.stringify(worker)}).on('message', ({ result }) => {
        console.log(result);
        process.exit();
      });
      worker.postMessage({ operation: 'hash', password: 'secret1', cost: 4 });`;
      // Root may raise a priority, unless it lacks the capability.
      const asOthers = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-sys_nice', '--inh-caps=-sys_nice'] : [];
      const [program = '', ...args] = [...asOthers, 'nice', '-n', '5', process.execPath, '-e', hashOnce];
      const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
      expect({ stdout, stderr }).toEqual({ stdout: expect.stringMatching(/^\$2b\$04\$/) as string, stderr: '' });
    },
  );

  // guard hashing-pool-5: the addresses of an IPv6 /48 share one turn at hashing
  // src/base/networks.ts
  // - networksOf(address).at(-1)
  // + networksOf(address).at(0)
  it('treats a /48 of IPv6 as one address', async () => {
    pool = poolOf(1, 100, PATIENT_MS);
    const order: string[] = [];
    const ask = (from: string) => pool.hash('secret1', 4, from).then(() => order.push(from));
    const crowd = Array.from({ length: 20 }, (_, index) => ask(`2001:db8:0:${index.toString(16)}::/64`));
    await Promise.all([...crowd, ask('198.51.100.9')]);
    expect(order.indexOf('198.51.100.9')).toBeLessThanOrEqual(2);
  });

  // guard hashing-pool-6: a full queue of hashing has room for an address that has little waiting
  // src/load/queue.ts
  // - newest = jobs.at(-1);
  it('drops a job of the sender with most waiting, when it is full', async () => {
    pool = poolOf(1, 4, PATIENT_MS);
    const senders = ['ann', 'ann', 'ann', 'ann', 'ann', 'bob', 'ann', 'bob', 'cat', 'bob'];
    const ends = await Promise.allSettled(senders.map((from) => pool.hash('secret1', 4, from)));
    const hashed = senders.filter((_from, index) => ends[index]?.status === 'fulfilled');
    expect(hashed).toEqual(['ann', 'ann', 'bob', 'bob', 'cat']);
  });
});
