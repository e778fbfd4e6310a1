import { z } from 'zod';
import { NotFound, TooManyRequests } from '../../src/base/errors';
import { nameOf, operation, type Operation } from '../../src/http/operation';
import { LIMITS } from '../../src/load/limits';
import { asDescribed } from '../support/as-described';
import { OPERATIONS } from '../support/operations';

const user = z.strictObject({ id: z.string(), groups: z.array(z.strictObject({ name: z.string() })) });
const found = { id: 'x', groups: [{ name: 'Cooks' }] };
const described = { path: '/user/x', summary: 'X.', access: 'user', result: user } as const;

/** Calls the operation as the tests of the API do. */
const answerOf = async (given: Operation) => {
  const answer = asDescribed(given).answer as (input: object, call: object) => Promise<unknown>;
  return answer({}, {});
};

describe('an operation', () => {
  it('returns the fields of its schema, and no others: this file compiles', async () => {
    expect(await answerOf(operation({ ...described, handle: async () => found }))).toEqual(found);

    // @ts-expect-error -- a field that is not named
    const more = operation({ ...described, handle: async () => ({ ...found, passwordHash: 'x' }) });
    // @ts-expect-error -- nor in an object within
    const inside = operation({ ...described, handle: async () => ({ id: 'x', groups: [{ name: 'x', secret: 1 }] }) });
    // @ts-expect-error -- a field that is missing
    const less = operation({ ...described, handle: async () => ({ id: 'x' }) });
    // @ts-expect-error -- a result where none is described
    const some = operation({ path: '/user/x', summary: 'X.', access: 'user', handle: async () => 1 });
    for (const wrong of [more, inside, less, some]) await expect(answerOf(wrong)).rejects.toThrow('does not name');
  });

  it('has a userId in its call only where users only may call it', () => {
    // @ts-expect-error -- anyone has no user id
    operation({ path: '/user/x', summary: 'X.', access: 'anyone', handle: async (_, { userId }) => void userId });
  });

  it('fails a test when it refuses with an undeclared reason', async () => {
    const handle = async () => Promise.reject(new NotFound('no_such_user', 'no'));
    const refusing = {
      path: '/user/x',
      summary: 'X.',
      access: 'user',
      refusals: ['no_such_user'],
      handle,
    } as const;
    await expect(answerOf(operation(refusing))).rejects.toBeInstanceOf(NotFound);
    const others = [new TooManyRequests('too_many_lookups', 'no'), new NotFound('no_such_group', 'no')];
    for (const error of others) {
      const other = async () => Promise.reject(error);
      await expect(answerOf(operation({ ...refusing, handle: other }))).rejects.toThrow('does not name');
    }
  });
});

it.each(OPERATIONS.filter(({ access, body }) => access === 'user' && body))(
  "$path takes a user's body, so it uses the queue of writes",
  ({ queue }) => expect(queue).toBe('writes'),
);

it.each(OPERATIONS.filter(({ limits }) => limits))(
  '$path is limited per user, or per address where the user is unknown',
  ({ access, limits = [] }) => {
    const per = access === 'user' || access === 'reader' ? 'user' : 'address';
    for (const limit of limits) expect(LIMITS[nameOf(limit)].per).toBe(per);
  },
);

it('uses a queue of few slots, and says so, if it returns all rows that a user has', () => {
  const heavy = OPERATIONS.filter(({ queue }) => queue === 'heavyReads' || queue === 'exports');
  expect(heavy.map(({ path }) => path)).toEqual([
    '/user/export',
    '/user/blacklist',
    '/friendship/all',
    '/user/groups',
    '/group/:id/members',
    '/user/sync/:version',
  ]);
  for (const { refusals } of heavy) expect(refusals).toContain('too_many_at_once');
});
