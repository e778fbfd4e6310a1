import { createHmac } from 'node:crypto';
import express from 'express';
import session, { MemoryStore } from 'express-session';
import request from 'supertest';
import { SessionReader } from '../../src/features/sessions/session-reader';
import { cookieReader } from '../../src/http/cookies';

const SECRETS = ['a new secret', 'the one before'];
const [NEW = '', OLD = ''] = SECRETS;

/** Records which session it was asked for. */
class AskedStore extends MemoryStore {
  asked: string | undefined;

  override get(sid: string, done: (error: unknown) => void): void {
    this.asked = sid;
    done(undefined);
  }
}

const store = new AskedStore();
const app = express().use(
  session({ store, name: 'sid', secret: SECRETS, resave: false, saveUninitialized: false }),
  (_req, res) => void res.end(),
);
const reader = new SessionReader({ run: () => Promise.resolve([]) }, cookieReader('sid'), SECRETS);

async function askedByExpressSession(cookies: string): Promise<string | undefined> {
  store.asked = undefined;
  await request(app).get('/').set('Cookie', cookies);
  return store.asked;
}

function signed(sid: string, secret = NEW): string {
  return `s:${sid}.${createHmac('sha256', secret).update(sid).digest('base64').replace(/=+$/, '')}`;
}

const whole = signed('an-id');
const encoded = encodeURIComponent(whole);

describe('SessionReader and express-session read the same session id', () => {
  it.each([
    ['a cookie', `sid=${encoded}`, 'an-id'],
    ['one that is not encoded', `sid=${whole}`, 'an-id'],
    ['one in quotes', `sid="${encoded}"`, 'an-id'],
    ['one among others', `a=b; sid=${encoded}; c=d`, 'an-id'],
    ['one with spaces around it', `a=b ;  sid = ${encoded} ;c`, 'an-id'],
    ['one after an older one', `sid=${encoded}; sid=${encodeURIComponent(signed('another'))}`, 'an-id'],
    ['one that was signed with the secret before', `sid=${encodeURIComponent(signed('an-id', OLD))}`, 'an-id'],
    ['an id with points', `sid=${encodeURIComponent(signed('an.id.'))}`, 'an.id.'],
    ['an empty id', `sid=${encodeURIComponent(signed(''))}`, ''],
  ])('from %s', async (_what, cookies, sid) => {
    expect(reader.signedId(cookies)).toBe(sid);
    expect(await askedByExpressSession(cookies)).toBe(sid || undefined);
  });

  it.each([
    ['no cookie', 'a=b'],
    ['an empty one', 'sid='],
    ['one of another name', `xsid=${encoded}; sidx=${encoded}; SID=${encoded}`],
    ['one after a forged one', `sid=s%3Aan-id.x; sid=${encoded}`],
    ['one of another secret', `sid=${encodeURIComponent(signed('an-id', 'a third'))}`],
    ['another id under its signature', `sid=${encoded.replace('an-id', 'an-ie')}`],
    ['half of a signature', `sid=${encoded.slice(0, -5)}`],
    ['a longer signature', `sid=${encoded}A`],
    ['no signature', 'sid=s%3Aan-id'],
    ['one without its mark', `sid=${encoded.slice(4)}`],
    ['one that cannot be decoded', `sid=%E0%A4${encoded}`],
  ])('and ignore %s', async (_what, cookies) => {
    expect(reader.signedId(cookies)).toBeUndefined();
    expect(await askedByExpressSession(cookies)).toBeUndefined();
  });
});
