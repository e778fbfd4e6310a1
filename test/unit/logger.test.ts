import { PassThrough } from 'node:stream';
import { createLogger } from '../../src/base/logger';

/** Returns the log line of an error. */
function logged(error: unknown): string {
  const lines = new PassThrough();
  createLogger('info', lines).error({ err: error }, 'failed');
  return String(lines.read());
}

describe('the log of an error', () => {
  // guard logger-1: the log of an error has no phone and no code in its words
  // src/base/logger.ts
  // - message: blanked(error.message)
  // + message: error.message
  it('contains no digits that could be a phone or a code, wherever a vendor puts them', () => {
    const error = new Error('unreachable +447911123456', { cause: new Error('body: 471100 is your code') });
    const line = logged(error);
    expect(line).toContain('unreachable');
    expect(line).toContain('is your code');
    expect(line).not.toMatch(/7911123456|471100/);
  });

  // guard logger-2: the log of an error has only named fields
  // src/base/logger.ts
  // - { type: error.name, message
  // + { ...error, type: error.name, message
  it('contains only named fields: no row of the database, no request of a client', () => {
    const row = 'Failing row contains (447911123456, secret1).';
    const parts = { detail: row, where: row, request: { body: row }, config: { auth: row }, response: row };
    const line = logged(Object.assign(new Error('it failed'), { code: '23505', constraint: 'users_pkey', ...parts }));
    expect(JSON.parse(line)).toMatchObject({ err: { message: 'it failed', code: '23505', constraint: 'users_pkey' } });
    expect(line).not.toContain('secret1');
    expect(Object.keys((JSON.parse(line) as { err: object }).err).sort()).toEqual([
      'code',
      'constraint',
      'message',
      'stack',
      'type',
    ]);
  });

  it('says what ended a thread, whose error is not native', () => {
    const error: unknown = Object.create(Error.prototype, { message: { value: 'permission denied' } });
    expect(JSON.parse(logged(error))).toMatchObject({ err: { type: 'Error', message: 'permission denied' } });
  });

  it('contains nothing of a thrown value that is not an Error', () => {
    expect(logged({ password: 'secret1' })).not.toContain('secret1');
  });
});
