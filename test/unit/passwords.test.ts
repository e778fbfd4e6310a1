import bcrypt, { getRounds } from 'bcrypt';
import { Passwords } from '../../src/features/auth/passwords';

const compare = jest.spyOn(bcrypt, 'compare');

/** Returns the rounds that comparisons took since the last call: 2 to the cost of each hash. */
function work(): number {
  const calls = compare.mock.calls as unknown as [string, string][];
  const rounds = calls.map(([, hash]) => 2 ** getRounds(hash)).reduce((sum, one) => sum + one, 0);
  compare.mockClear();
  return rounds;
}

describe('Passwords', () => {
  it('makes bcrypt hashes of the configured cost, each its own', async () => {
    const [first, second] = [await new Passwords(5).hash('secret1'), await new Passwords(5).hash('secret1')];
    expect(first).toMatch(/^\$2b\$05\$.{53}$/);
    expect(second).not.toBe(first);
  });

  // guard unit-passwords-2: a password is compared exactly as it was sent
  // src/features/auth/passwords.ts
  // - return this.bcrypt.hash(password, this.cost, address);
  // + return this.bcrypt.hash(password.toLowerCase(), this.cost, address);
  // src/features/auth/passwords.ts
  // - this.bcrypt.compare(password, passwordHash, address, padding)
  // + this.bcrypt.compare(password.toLowerCase(), passwordHash, address, padding)
  it('matches the right password and no other', async () => {
    const passwords = new Passwords(4);
    const hash = await passwords.hash('secret1');
    expect(await passwords.matches('secret1', hash)).toBe(true);
    for (const wrong of ['secret2', 'Secret1', 'secret', 'secret1 ', ''])
      expect(await passwords.matches(wrong, hash)).toBe(false);
  });

  // guard unit-passwords-1: a password is compared with all of its bytes
  // src/features/auth/passwords.ts
  // - return this.bcrypt.hash(password, this.cost, address);
  // + return this.bcrypt.hash(password.slice(0, 7), this.cost, address);
  // src/features/auth/passwords.ts
  // - this.bcrypt.compare(password, passwordHash, address, padding)
  // + this.bcrypt.compare(password.slice(0, 7), passwordHash, address, padding)
  it('compares all 20 bytes of a password', async () => {
    const passwords = new Passwords(4);
    const hash = await passwords.hash(`${'字'.repeat(6)}ab`);
    expect(await passwords.matches(`${'字'.repeat(6)}ac`, hash)).toBe(false);
  });

  it('matches nothing where there is no account or no password', async () => {
    const passwords = new Passwords(4);
    for (const hash of [undefined, ''])
      for (const typed of ['', 'secret1']) expect(await passwords.matches(typed, hash)).toBe(false);
  });

  // guard unit-passwords-3: an unknown phone costs as many rounds as a known one
  // src/features/auth/passwords.ts
  // - await this.bcrypt.compare(password, this.dummyHash(this.cost), address);
  it.each([4, 5, 6, 7])(
    'does the work of cost 7 without an account and for a hash of cost %i, right or wrong',
    async (cost) => {
      const passwords = new Passwords(7);
      const hash = await new Passwords(cost).hash('secret1');
      work();
      await passwords.matches('secret1', undefined);
      const forNobody = work();
      expect(forNobody).toBe(2 ** 7);
      await passwords.matches('secret1', hash);
      expect(work()).toBe(forNobody);
      await passwords.matches('wrong-one', hash);
      expect(work()).toBe(forNobody);
    },
  );

  it('reports a hash as outdated when its cost is lower than the configured one', async () => {
    const hash = await new Passwords(5).hash('secret1');
    expect([4, 5, 6].map((cost) => new Passwords(cost).isOutdated(hash))).toEqual([false, false, true]);
  });
});
