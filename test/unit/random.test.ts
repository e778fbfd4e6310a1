import crypto from 'node:crypto';
import { newUserId } from '../../src/features/users/user-id';
import { VerificationCodes } from '../../src/features/verification/verification-code';
import { newVerificationToken } from '../../src/features/verification/verification-token';

const codes = new VerificationCodes(['a secret']);

describe('a verification code', () => {
  afterEach(() => jest.restoreAllMocks());

  // guard random-2: a code is one of a million possible ones
  // src/features/verification/verification-code.ts
  // - randomInt(1_000_000)
  // + randomInt(10_000)
  it('has six digits, each of which may be any: a million codes are possible', () => {
    const made = Array.from({ length: 2_000 }, () => codes.create());
    for (const code of made) expect(code).toMatch(/^[0-9]{6}$/);
    for (let place = 0; place < 6; place += 1) expect(new Set(made.map((code) => code[place])).size).toBe(10);
  });

  // guard random-1: codes come from Node's CSPRNG
  // src/features/verification/verification-code.ts
  // - String(randomInt(1_000_000))
  // + String(Math.floor(Math.random() * 1_000_000))
  it("comes from Node's CSPRNG", () => {
    const draw = jest.spyOn(crypto, 'randomInt').mockImplementation(() => 4_711);
    expect(codes.create()).toBe('004711');
    expect(draw).toHaveBeenCalledWith(1_000_000);
  });

  it('is stored under a key that only the secret gives', () => {
    const [one, other] = [codes, new VerificationCodes(['another secret'])];
    const { hmac: kept } = one.kept('+447911123456', '004711', '192.0.2.1');
    expect(one.matches('+447911123456', '004711', kept)).toBe(true);
    expect(other.matches('+447911123456', '004711', kept)).toBe(false);
  });
});

describe('a verification token and a user id', () => {
  afterEach(() => jest.restoreAllMocks());

  it("come from Node's CSPRNG: 128 bits and 71", () => {
    const drawn = Buffer.from('00112233445566778899aabbccddeeff', 'hex');
    const draw = jest.spyOn(crypto, 'randomBytes').mockImplementation(() => drawn);
    expect(newVerificationToken()).toBe(drawn.toString('base64url'));
    expect(draw).toHaveBeenCalledWith(16);
    const pick = jest.spyOn(crypto, 'randomInt').mockImplementation(() => 61);
    expect(newUserId()).toBe('z'.repeat(12));
    expect(pick.mock.calls).toEqual(Array.from({ length: 12 }, () => [62]));
  });
});
