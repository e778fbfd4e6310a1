import { PUBLIC } from '../support/as-documented';

const headers = { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'x' };

function answered(path: string, status: number, body: object, more: Record<string, string> = {}) {
  return { method: 'POST', path, status, headers: { ...headers, ...more }, body: Buffer.from(JSON.stringify(body)) };
}

const tooMany = { code: 429, reason: 'too_many_lookups', message: 'Wait.' };

describe('complaintOf an answer that docs/openapi.json', () => {
  it.each([
    ['describes', answered('/user/groups', 200, { code: 200, result: [] })],
    [
      'describes, under a path with an id in it',
      answered('/user/find/44/7911123456', 404, notFound('no_such_user'), { 'x-reason': 'no_such_user' }),
    ],
    ['describes, a return code', answered('/user/verify_code', 200, { code: 1000 }, { 'x-reason': 'wrong_code' })],
    ['does not describe, since it belongs to no operation', answered('/no/such/path', 404, notFound('no_such_path'))],
  ])('%s, is undefined', (_, answer) => expect(PUBLIC.complaintOf(answer)).toBeUndefined());

  it.each([
    ['status 418', answered('/user/groups', 418, {})],
    ['must have required property', answered('/user/groups', 200, { code: 200 })],
    ['must NOT have additional', answered('/user/groups', 200, { code: 200, result: [], more: 1 })],
    ['must NOT have additional', answered('/user/login', 200, { code: 1000, result: null })],
    ['must be equal to one of', answered('/user/:id', 404, notFound('no_such_group'), { 'x-reason': 'no_such_group' })],
    ['without X-Reason', answered('/user/find/44/1', 429, tooMany, { 'retry-after': '1' })],
    ['without Retry-After', answered('/user/find/44/1', 429, tooMany, { 'x-reason': tooMany.reason })],
    ['the type text/html', answered('/user/groups', 200, {}, { 'content-type': 'text/html' })],
  ])('does not describe, names the difference: %s', (complaint, answer) => {
    expect(PUBLIC.complaintOf(answer)).toContain(complaint);
  });
});

function notFound(reason: string) {
  return { code: 404, reason, message: 'There is none.' };
}
