import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NumberRefused, SendingTimedOut, type Message } from '../../../src/integrations/senders/sender';
import { expectBody, expectRefusal, post, type Answer } from '../../support/calls';
import { e164, field, newPhone, passResendTime, type PhoneFields } from '../../support/people';
import { stage } from '../../support/stage';

const folder = mkdtempSync(join(tmpdir(), 'accounts-routes-'));
const routes = join(folder, 'routes.json');
writeFileSync(
  routes,
  JSON.stringify({ routes: { GB: ['console sms', { 'console voice': { cost: 5 } }, 'file whatsapp'] } }),
);
const env = { SMS_ROUTES: routes, CAPTCHA_POLICY: 'off', SEND_CODE_PER_PHONE_DAY: '4' };
const { app, instance } = stage({ env });
afterEach(() => {
  app.sms.before = () => Promise.resolve();
  app.sms.sent.length = 0;
});
afterAll(() => rmSync(folder, { recursive: true }));

const sendCode = (phone: PhoneFields, more = {}, on = app) => post(on.api, '/user/send_code', { ...phone, ...more });
const codeOf = ({ body }: Answer) => Number(field(body, 'code'));
const verify = (phone: PhoneFields, code: string) => post(app.api, '/user/verify_code', { ...phone, code });

/** Lets some channels fail. */
function failing(errors: Partial<Record<Message['channel'], Error>>, on = app): string[] {
  const tried: string[] = [];
  on.sms.before = ({ channel }) => {
    tried.push(channel);
    const error = errors[channel];
    return error ? Promise.reject(error) : Promise.resolve();
  };
  return tried;
}

const codesOf = (phone: PhoneFields) =>
  app
    .db('verification_codes')
    .where({ phone: e164(phone) })
    .select<{ way: string; country: string }[]>('way', 'country');

describe('the ways of a code', () => {
  it('begin with the first of the route, and the answer says by which channel it went', async () => {
    const phone = newPhone();
    const answer = await sendCode(phone);
    expectBody(answer, { code: 200 });
    expect(answer.headers['x-channel']).toBe('sms');
    expect(await codesOf(phone)).toEqual([{ way: 'console sms', country: 'GB' }]);
  });

  // guard ways-2: the row of a code says which way it is tried by
  // src/features/verification/code-sender.ts
  // - if (nameOf(way) !== tried) await verification.setWay(id, nameOf(way));
  it('go on after a known failure and after a refusal, with one code that is right', async () => {
    const phone = newPhone();
    const tried = failing({ sms: new Error('the provider failed'), voice: new NumberRefused('no such line') });
    const answer = await sendCode(phone);
    expectBody(answer, { code: 200 });
    expect(answer.headers['x-channel']).toBe('whatsapp');
    expect(tried).toEqual(['sms', 'voice', 'whatsapp']);
    expect(await codesOf(phone)).toEqual([{ way: 'file whatsapp', country: 'GB' }]);
    expect(codeOf(await verify(phone, app.sms.codeFor(e164(phone))))).toBe(200);
  });

  // guard ways-1: no other way is tried while a message may still arrive
  // src/features/sending/sending.ts
  // - if (error instanceof SendingTimedOut) throw error;
  it('end at a message that may still arrive', async () => {
    const phone = newPhone();
    const tried = failing({ sms: new SendingTimedOut('no answer') });
    expectRefusal(await sendCode(phone), 503, 'the SMS provider did not answer in time: the code may still arrive');
    expect(tried).toEqual(['sms']);
    expect(await codesOf(phone)).toEqual([{ way: 'console sms', country: 'GB' }]);
  });

  // guard ways-4: a number is undeliverable only if every way refuses it
  // src/features/sending/sending.ts
  // - if (refused && failures.length === 0) return refused;
  // + if (refused) return refused;
  it('are refused as undeliverable only if each refuses the number', async () => {
    const refused = new NumberRefused('not there');
    const phone = newPhone();
    failing({ sms: refused, voice: refused, whatsapp: refused });
    expectRefusal(await sendCode(phone), 400, 'phone: the SMS provider does not deliver to this number');
    failing({ sms: refused, voice: new Error('down'), whatsapp: refused });
    expectRefusal(await sendCode(phone), 503, 'the SMS could not be sent: try again later');
    expect(await codesOf(phone)).toEqual([]);
  });

  // guard ways-3: a code goes only by the channel that is asked for
  // src/features/sending/routes.ts
  // - (way) => channel === undefined || way.channel === channel
  // + () => true
  it('are those of the channel that is asked for', async () => {
    const phone = newPhone();
    const tried = failing({});
    const answer = await sendCode(phone, { channel: 'whatsapp' });
    expect(answer.headers['x-channel']).toBe('whatsapp');
    expect(tried).toEqual(['whatsapp']);
  });

  it('do not count where no way leads, and another channel may follow at once', async () => {
    const phone = newPhone();
    expectRefusal(await sendCode(phone, { channel: 'telegram' }), 400, 'channel: does not lead to this phone');
    expectBody(await sendCode(phone, { channel: 'voice' }), { code: 200 });
  });

  it('share one budget, so that a channel is not a way around', async () => {
    const phone = newPhone();
    expectBody(await sendCode(phone, { channel: 'sms' }), { code: 200 });
    expect(codeOf(await sendCode(phone, { channel: 'voice' }))).toBe(5000);
    const channels = ['voice', 'whatsapp', 'sms', 'voice', 'whatsapp', 'sms'];
    const answers: number[] = [];
    for (const channel of channels) {
      await passResendTime(app, phone);
      answers.push(codeOf(await sendCode(phone, { channel })));
    }
    expect(answers).toContain(5000);
    expect(await codesOf(phone)).toHaveLength(answers.indexOf(5000) + 1);
  });

  // guard ways-5: a code counts as what the way that takes it costs
  // src/features/verification/send-code-service.ts
  // - await taken.countAs(way.cost);
  // guard ways-6: a dearer way is not tried when the budget has no room for it
  // src/features/limits/limiter.ts
  // - if (changes.every(({ uses }) => uses > 0)) await this.takeOrRefuse(changes, caller);
  // - else await this.giveBack(changes
  // + await this.giveBack(changes
  // guard ways-7: an address pays for the provider that was asked, also where no next way can be paid
  // src/features/sending/sending.ts
  // - if (errors.length > 0 && error instanceof SendingTooOften) break;
  it('count against the budget of a day as what they cost, and a dear one needs room for it', async () => {
    const budgeted = await instance({ ...env, SEND_CODE_PER_DAY: '15', SEND_CODE_PER_IP_HOUR: '100' });
    const used = () => app.db('rate_limits').where({ key: 'send_in_all:all' }).pluck<number[]>('used');
    expectBody(await sendCode(newPhone(), {}, budgeted), { code: 200 });
    expect(await used()).toEqual([1]);
    const tried = failing({ sms: new Error('down') }, budgeted);
    expectBody(await sendCode(newPhone(), {}, budgeted), { code: 200 });
    expect(await used()).toEqual([6]);
    failing({ voice: new Error('down') }, budgeted);
    expectRefusal(await sendCode(newPhone(), { channel: 'voice' }, budgeted), 503, 'the SMS could not be sent');
    expect(await used()).toEqual([6]);
    failing({}, budgeted);
    expectBody(await sendCode(newPhone(), { channel: 'voice' }, budgeted), { code: 200 });
    expect(await used()).toEqual([11]);
    // Four fifths are for strangers, so that one message is left.
    const next = failing({ sms: new Error('down') }, budgeted);
    const ofAddress = () => app.db('rate_limits').where('key', 'like', 'send_per_address:%').pluck<number[]>('used');
    const [before = NaN] = await ofAddress();
    expectRefusal(await sendCode(newPhone(), {}, budgeted), 503, 'the SMS could not be sent');
    expect([tried, next]).toEqual([['sms', 'voice'], ['sms']]);
    expect([await used(), await ofAddress()]).toEqual([[11], [before + 1]]);
    failing({}, budgeted);
    expectBody(await sendCode(newPhone(), { channel: 'voice' }, budgeted), { code: 200 });
    expect(codeOf(await sendCode(newPhone(), {}, budgeted))).toBe(5000);
  });

  it('leave only the newest code valid', async () => {
    const phone = newPhone();
    await sendCode(phone, { channel: 'sms' });
    const first = app.sms.codeFor(e164(phone));
    await passResendTime(app, phone);
    await sendCode(phone, { channel: 'voice' });
    const second = app.sms.codeFor(e164(phone));
    if (first !== second) expect(codeOf(await verify(phone, first))).toBe(1000);
    expect(codeOf(await verify(phone, second))).toBe(200);
  });
});
