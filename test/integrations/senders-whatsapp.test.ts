import { WhatsAppSender, type WhatsAppOptions } from '../../src/integrations/senders/whatsapp/sender';
import { PATIENT_MS } from '../support/patience';
import { limitWith, MESSAGE, outcomeOf, secretsIn, toldBy, unusedPort } from '../support/senders';
import { startWhatsAppStandIn, type WhatsAppBehaviour, type WhatsAppStandIn } from '../support/stand-ins/whatsapp';

describe('the sender whatsapp', () => {
  let whatsApp: WhatsAppStandIn;

  beforeEach(async () => {
    whatsApp = await startWhatsAppStandIn();
  });
  afterEach(() => whatsApp.close());

  const sender = (options: Partial<WhatsAppOptions> = {}) =>
    new WhatsAppSender({
      token: whatsApp.token,
      phoneNumberId: whatsApp.phoneNumberId,
      template: whatsApp.template,
      languages: ['en', 'pt_BR', 'zh_CN'],
      apiUrl: `${whatsApp.url}/v24.0`,
      timeoutMs: PATIENT_MS,
      ...options,
    });
  const message = { ...MESSAGE, channel: 'whatsapp' as const };

  it('sends the template with the code in its text and in its button, and is told the name of the message', async () => {
    expect(await sender().send(message)).toEqual({ reference: 'wamid.HBgL1' });
    expect(JSON.parse(whatsApp.requests[0]?.body ?? '')).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: message.to,
      type: 'template',
      template: {
        name: 'verification_code',
        language: { code: 'pt_BR' },
        components: [
          { type: 'body', parameters: [{ type: 'text', text: message.code }] },
          { type: 'button', sub_type: 'url', index: '0', parameters: [{ type: 'text', text: message.code }] },
        ],
      },
    });
  });

  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['pt-br', 'pt_BR'],
    ['pt', 'pt_BR'],
    ['zh-Hant', 'zh_CN'],
    ['de', 'en'],
  ])('chooses for the language %j the template in %s', async (language, expected) => {
    await sender().send({ ...message, language });
    expect(whatsApp.requests[0]?.body).toContain(`"language":{"code":"${expected}"}`);
  });

  // guard senders-whatsapp-1: a number that is not on WhatsApp leads to the next way, and does not count as a failure
  // src/integrations/senders/whatsapp/sender.ts
  // - 131026, //
  // + //
  it.each<[string, WhatsAppBehaviour, string]>([
    ['not on WhatsApp', { status: 400, code: 131026 }, 'refused'],
    ['the sending number itself', { status: 400, code: 131021 }, 'refused'],
    ['a number that the test account may not reach', { status: 400, code: 131030 }, 'failed'],
    ['a window that has ended', { status: 400, code: 131047 }, 'failed'],
    ['too many messages to one number', { status: 400, code: 131056 }, 'failed'],
    ['too many messages', { status: 429, code: 130429 }, 'failed'],
    ['too many requests of the account', { status: 429, code: 80007 }, 'failed'],
    ['an ended token', { status: 401, code: 190 }, 'failed'],
    ['an unknown template', { status: 404, code: 132001 }, 'failed'],
    ['a message that Meta does not want to deliver', { status: 400, code: 131049 }, 'failed'],
    ['an outage', { status: 500, code: 131000 }, 'failed'],
    ['a proxy in between', 'gateway', 'failed'],
    ['an answer that is not JSON', 'garbage', 'failed'],
    ['an answer that is not of WhatsApp', 'foreign', 'failed'],
    ['no body', 'empty', 'failed'],
    ['no answer', 'hang', 'unknown'],
    ['an answer without an end', 'trickle', 'unknown'],
    ['a broken connection', 'reset', 'unknown'],
  ])('tells %s apart, and shows no secret', async (_case, behaviour, expected) => {
    whatsApp.behave(behaviour);
    const impatient = sender(limitWith(behaviour));
    expect(await outcomeOf(impatient, message)).toBe(expected);
    expect(secretsIn(await toldBy(impatient, message), [whatsApp.token, whatsApp.phoneNumberId])).toEqual([]);
  });

  it('tells the code of Meta', async () => {
    whatsApp.behave({ status: 400, code: 131047 });
    await expect(sender().send(message)).rejects.toThrow(
      'WhatsApp did not take the message (HTTP status 400, code 131047)',
    );
    whatsApp.behave({ status: 400, code: 131026 });
    await expect(sender().send(message)).rejects.toMatchObject({ name: 'NumberRefused', providerCode: 131026 });
  });

  it('fails with a wrong token, and where nothing listens', async () => {
    expect(await outcomeOf(sender({ token: 'wrong' }), message)).toBe('failed');
    expect(await outcomeOf(sender({ apiUrl: `http://127.0.0.1:${await unusedPort()}` }), message)).toBe('failed');
  });

  // guard senders-whatsapp-2: a text without a code is not sent as a template
  // src/integrations/senders/whatsapp/sender.ts
  // - if (code === undefined) throw new Error(`${PEER} takes codes only`);
  it('sends no text, which the template has no place for', async () => {
    const { code: _code, ...notice } = message;
    expect(await outcomeOf(sender(), notice)).toBe('failed');
    expect(whatsApp.requests).toEqual([]);
  });
});
