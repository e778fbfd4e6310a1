import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Comparison } from '../../src/integrations/senders/sender';
import { SPOKEN, voiceOf } from '../../src/integrations/senders/spoken-code';
import { TwilioSender, type TwilioOptions } from '../../src/integrations/senders/twilio/sender';
import { TwilioVerifySender, type TwilioVerifyOptions } from '../../src/integrations/senders/twilio-verify/sender';
import { PATIENT_MS } from '../support/patience';
import { limitWith, MESSAGE, outcomeOf, secretsIn, toldBy } from '../support/senders';
import { rememberSecret } from '../support/secrets';
import { ROOT } from '../support/service-process';
import {
  startTwilioStandIn,
  type TwilioBehaviour,
  type TwilioCheckBehaviour,
  type TwilioStandIn,
} from '../support/stand-ins/twilio';

let twilio: TwilioStandIn;

beforeEach(async () => {
  twilio = await startTwilioStandIn();
});
afterEach(() => twilio.close());

const account = () => ({
  accountSid: twilio.accountSid,
  authToken: twilio.authToken,
  apiUrl: twilio.url,
  timeoutMs: PATIENT_MS,
});
const forms = () => twilio.requests.map(({ form }) => Object.fromEntries(form));

describe('the sender twilio voice', () => {
  const FROM = '+15005550006';
  const sender = (options: Partial<TwilioOptions> = {}) => new TwilioSender({ ...account(), from: FROM, ...options });
  const message = { ...MESSAGE, channel: 'voice' as const };

  it('calls, and speaks the code twice, digit by digit, in the language of the text', async () => {
    expect(await sender().send(message)).toEqual({ reference: expect.stringMatching(/^CA[\da-f]{32}$/) as string });
    const say = '<Say voice="Google.pt-BR-Standard-A" language="pt-BR">Your code is 4, 8, 2, 9, 1, 3.</Say>';
    const Twiml = `<Response>${say}<Pause length="1"/>${say}</Response>`;
    expect(forms()).toEqual([{ To: message.to, From: FROM, Twiml }]);
  });

  it('calls from the number, also beside a messaging service', async () => {
    await sender({ messagingServiceSid: 'MG0123' }).send(message);
    expect(forms()).toMatchObject([{ From: FROM }]);
    expect(await outcomeOf(sender({ from: undefined, messagingServiceSid: 'MG0123' }), message)).toBe('failed');
    expect(twilio.requests).toHaveLength(1);
  });

  it.each([
    [undefined, 'en-US', 'Google.en-US-Standard-A'],
    ['de', 'de-DE', 'Google.de-DE-Standard-A'],
    ['zh-Hant', 'cmn-TW', 'Google.cmn-TW-Standard-A'],
    ['zh-HK', 'yue-HK', 'Google.yue-HK-Standard-A'],
    ['en-gb', 'en-GB', 'Google.en-GB-Standard-A'],
    ['ar', 'ar-XA', 'Google.ar-XA-Standard-A'],
    ['es-MX', 'es-MX', 'Polly.Mia'],
    ['sw', 'en-US', 'Google.en-US-Standard-A'],
    ['not a language', 'en-US', 'Google.en-US-Standard-A'],
  ])('speaks the language %j as %s with the voice %s', async (language, expected, voice) => {
    await sender().send({ ...message, language });
    expect(forms()[0]?.Twiml).toContain(`<Say voice="${voice}" language="${expected}">`);
  });

  // guard senders-twilio-1: a text cannot give orders to the one who calls
  // src/integrations/senders/spoken-code.ts
  // - escaped(text)}</Say>
  // + text}</Say>
  it('speaks a text that is not TwiML, whatever is in it', async () => {
    await sender().send({ ...message, body: `</Say><Dial>+1900</Dial> & "R&D" ${message.code}` });
    expect(forms()[0]?.Twiml).toContain(
      '&lt;/Say&gt;&lt;Dial&gt;+1900&lt;/Dial&gt; &amp; &quot;R&amp;D&quot; 4, 8, 2,',
    );
  });

  it('speaks only languages and with voices that Twilio has', () => {
    const types = readFileSync(join(ROOT, 'node_modules/twilio/lib/twiml/VoiceResponse.d.ts'), 'utf8');
    const [languages = ''] = /type SayLanguage = .*/.exec(types) ?? [];
    const [voices = ''] = /type SayVoice = .*/.exec(types) ?? [];
    const missing = SPOKEN.map(voiceOf).filter(
      ({ name, language }) => !voices.includes(`"${name}"`) || !languages.includes(`"${language}"`),
    );
    expect(missing).toEqual([]);
  });

  it.each<[string, TwilioBehaviour, string]>([
    ['an invalid number', { status: 400, code: 21211 }, 'refused'],
    ['a number that cannot be called', { status: 400, code: 13224 }, 'refused'],
    ['a blocked number', { status: 400, code: 21216 }, 'refused'],
    ['a country that is not enabled', { status: 400, code: 21215 }, 'failed'],
    ['a wrong number to call from', { status: 400, code: 21210 }, 'failed'],
    ['too many requests', { status: 429, code: 20429 }, 'failed'],
    ['an outage', { status: 500, code: 20500 }, 'failed'],
    ['an answer that is not of Twilio', 'foreign', 'failed'],
    ['a proxy in between', 'gateway', 'failed'],
    ['no answer', 'hang', 'unknown'],
    ['a broken connection', 'reset', 'unknown'],
  ])('tells %s apart, and shows no secret', async (_case, behaviour, expected) => {
    twilio.behave(behaviour);
    const impatient = sender(limitWith(behaviour));
    expect(await outcomeOf(impatient, message)).toBe(expected);
    expect(secretsIn(await toldBy(impatient, message), [twilio.accountSid, twilio.authToken])).toEqual([]);
  });
});

describe('the sender twilio-verify', () => {
  const sender = (options: Partial<TwilioVerifyOptions> = {}) =>
    new TwilioVerifySender({ ...account(), serviceSid: twilio.verifyServiceSid, ...options });
  const { to } = MESSAGE;
  const secrets = () => [twilio.accountSid, twilio.authToken, twilio.verifyServiceSid];

  it.each([
    ['sms', 'sms'],
    ['voice', 'call'],
    ['whatsapp', 'whatsapp'],
  ] as const)('lets Twilio send a code of its own by %s', async (channel, expected) => {
    expect(await sender().send({ ...MESSAGE, channel })).toEqual({
      reference: expect.stringMatching(/^VE[\da-f]{32}$/) as string,
    });
    expect(forms()).toEqual([{ To: to, Channel: expected, Locale: 'pt-BR' }]);
  });

  it('leaves the language to Twilio if none is known', async () => {
    const { language: _language, ...message } = MESSAGE;
    await sender().send(message);
    await sender().send({ ...message, language: 'sw' });
    expect(forms()).toEqual([
      { To: to, Channel: 'sms' },
      { To: to, Channel: 'sms' },
    ]);
  });

  // guard senders-twilio-2: a code is right only once Verify has approved it
  // src/integrations/senders/twilio-verify/sender.ts
  // - ['pending', 'wrong'],
  // + ['pending', 'right'],
  it('compares a code once it was sent, and only once with success', async () => {
    const verify = sender();
    expect(await verify.check(to, '123456')).toBe('over');
    await verify.send(MESSAGE);
    const code = rememberSecret(twilio.verifyCodeFor(to));
    const wrong = code === '000000' ? '111111' : '000000';
    expect(await verify.check(to, wrong)).toBe('wrong');
    expect(await verify.check('+447911123457', code)).toBe('over');
    expect(await verify.check(to, code)).toBe('right');
    expect(await verify.check(to, code)).toBe('over');
  });

  it('does not ask Twilio about what cannot be its code', async () => {
    for (const typed of ['', '123', '12345678901', 'abcdef', ' 123456', '１２３４５６']) {
      expect(await sender().check(to, typed)).toBe('wrong');
    }
    expect(twilio.requests).toEqual([]);
  });

  it.each<[string, TwilioCheckBehaviour, Comparison]>([
    ['a code that waits', { state: 'pending' }, 'wrong'],
    ['the last try', { state: 'max_attempts_reached' }, 'wrong'],
    ['a cancelled verification', { state: 'canceled' }, 'over'],
    ['an expired verification', { state: 'expired' }, 'over'],
    ['no verification', { status: 404, code: 20404 }, 'over'],
    ['too many checks', { status: 429, code: 60202 }, 'over'],
  ])('after %s (%j) calls a code %s', async (_case, behaviour, expected) => {
    twilio.behaveAtChecks(behaviour);
    expect(await sender().check(to, '123456')).toBe(expected);
  });

  it.each([
    ['hr', 'sms', 'hr'],
    ['hr', 'voice', undefined],
    ['lt', 'voice', undefined],
    ['et', 'voice', undefined],
    ['tl', 'voice', 'tl'],
    ['de', 'voice', 'de'],
  ] as const)('names the language %s of a code by %s as %s', async (language, channel, expected) => {
    await sender().send({ ...MESSAGE, language, channel });
    expect(forms()[0]?.Locale).toBe(expected);
  });

  // guard senders-twilio-3: a code that Verify has not compared is not called wrong
  // src/integrations/senders/twilio-verify/sender.ts
  // - if (why === NOT_FOUND || why === TOO_MANY_CHECKS)
  // + if (why)
  // guard senders-twilio-4: an answer that is not of Verify is not taken for a comparison
  // src/integrations/senders/twilio-verify/sender.ts
  // - if (!outcome) throw new Error('Twilio gave an answer that is not a check');
  // + if (!outcome) return 'wrong';
  it.each<[string, TwilioCheckBehaviour]>([
    ['too many requests', { status: 429, code: 20429 }],
    ['wrong credentials', { status: 401, code: 20003 }],
    ['an outage', { status: 500, code: 20500 }],
    ['a proxy that finds nothing', { status: 404, code: 0 }],
    ['an answer that is not of Twilio', 'foreign'],
    ['no body', 'empty'],
    ['a proxy in between', 'gateway'],
    ['no answer', 'hang'],
    ['a broken connection', 'reset'],
  ])('does not call a code wrong that was not compared because of %s', async (_case, behaviour) => {
    twilio.behaveAtChecks(behaviour);
    const verify = sender(limitWith(behaviour));
    await expect(verify.check(to, '123456')).rejects.toThrow(/^Twilio /);
    const told = await toldBy({ send: () => verify.check(to, MESSAGE.code).then(() => undefined) });
    expect(secretsIn(told, secrets())).toEqual([]);
  });

  // guard senders-twilio-5: errors of Verify hold no number, code or credential
  // src/integrations/senders/twilio-verify/sender.ts
  // - throw sanitised(error, REFUSED_NUMBERS);
  // + throw error;
  it.each<[string, TwilioBehaviour, string]>([
    ['an invalid parameter', { status: 400, code: 60200 }, 'failed'],
    ['a landline', { status: 400, code: 60205 }, 'refused'],
    ['a prefix that Fraud Guard has blocked', { status: 403, code: 60410 }, 'refused'],
    ['a country that is not enabled', { status: 403, code: 60605 }, 'failed'],
    ['too many messages to a number', { status: 429, code: 60203 }, 'failed'],
    ['messages to a number at once', { status: 429, code: 60212 }, 'failed'],
    ['a channel that is off', { status: 403, code: 60223 }, 'failed'],
    ['too many requests', { status: 429, code: 20429 }, 'failed'],
    ['an outage', { status: 503, code: 20503 }, 'failed'],
    ['an answer that is not of Twilio', 'foreign', 'failed'],
    ['no answer', 'hang', 'unknown'],
    ['a broken connection', 'reset', 'unknown'],
  ])('tells %s apart, and shows no secret', async (_case, behaviour, expected) => {
    twilio.behave(behaviour);
    const impatient = sender(limitWith(behaviour));
    expect(await outcomeOf(impatient)).toBe(expected);
    expect(secretsIn(await toldBy(impatient), secrets())).toEqual([]);
  });

  it('fails after five messages without a check, which is the limit of Twilio', async () => {
    for (let count = 0; count < 5; count += 1) expect(await outcomeOf(sender())).not.toBe('failed');
    expect(await outcomeOf(sender())).toBe('failed');
  });

  it('tells the credit of the account', async () => {
    expect(await sender().credit()).toEqual({ amount: 12.345, currency: 'USD' });
  });
});
