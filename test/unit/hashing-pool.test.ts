import type { Worker } from 'node:worker_threads';
import { Unavailable } from '../../src/errors';
import { HashingPool } from '../../src/features/auth/hashing-pool';

describe('HashingPool', () => {
  let pool: HashingPool;
  afterEach(() => pool.close());

  /** Takes a thread for about a quarter of a second. */
  const slow = () => pool.hash('secret1', 12);

  it('makes hashes that it recognises the password by', async () => {
    pool = new HashingPool(1, 10);
    const hash = await pool.hash('secret1', 4);
    expect(hash).toMatch(/^\$2b\$04\$/);
    expect(await pool.compare('secret1', hash)).toBe(true);
    expect(await pool.compare('secret2', hash)).toBe(false);
  });

  it('answers each its own, however many are asked together', async () => {
    pool = new HashingPool(2, 100);
    const passwords = Array.from({ length: 30 }, (_, index) => `secret${index}`);
    const hashes = await Promise.all(passwords.map((password) => pool.hash(password, 4)));
    const matches = await Promise.all(hashes.map((hash, index) => pool.compare(passwords[index] ?? '', hash)));
    expect(matches).toEqual(Array(30).fill(true));
  });

  it('leaves the event loop free', async () => {
    pool = new HashingPool(1, 10);
    await pool.hash('warm up', 4);
    let turns = 0;
    const clock = setInterval(() => (turns += 1), 5);
    await slow();
    clearInterval(clock);
    expect(turns).toBeGreaterThan(10);
  });

  it('refuses at once, with 503, what is beyond its queue, and goes on with the rest', async () => {
    pool = new HashingPool(1, 2);
    const accepted = [slow(), slow(), slow()];
    const begun = Date.now();
    await expect(slow()).rejects.toBeInstanceOf(Unavailable);
    expect(Date.now() - begun).toBeLessThan(100);
    await expect(Promise.all(accepted)).resolves.toHaveLength(3);
    await expect(slow()).resolves.toMatch(/^\$2b\$12\$/);
  });

  it('leaves nobody waiting when it is closed', async () => {
    pool = new HashingPool(1, 10);
    const asked = Promise.allSettled([slow(), slow(), slow()]);
    await pool.close();
    const ends = [...(await asked), ...(await Promise.allSettled([slow()]))];
    expect(ends.map((end) => end.status === 'rejected' && end.reason instanceof Unavailable)).toEqual(
      Array(4).fill(true),
    );
  });

  it('says what bcrypt does not take, and goes on', async () => {
    pool = new HashingPool(1, 10);
    await expect(pool.compare('secret1', 'no hash')).resolves.toBe(false);
    await expect(pool.compare('secret1', 5 as unknown as string)).rejects.toThrow('must be a string');
    await expect(pool.hash('secret1', 4)).resolves.toMatch(/^\$2b\$04\$/);
  });

  it('fails what a thread that dies was at, and starts another', async () => {
    pool = new HashingPool(1, 10);
    const lost = slow();
    const waiting = pool.hash('secret1', 4);
    const [thread] = Reflect.get(pool, 'workers') as Set<Worker>;
    const refused = expect(lost).rejects.toBeInstanceOf(Unavailable);
    await thread?.terminate();
    await refused;
    await expect(waiting).resolves.toMatch(/^\$2b\$04\$/);
  });
});
