import { TelegramSender, type TelegramOptions } from '../../src/integrations/senders/telegram/sender';
import { PATIENT_MS } from '../support/patience';
import { limitWith, MESSAGE, outcomeOf, secretsIn, toldBy, unusedPort } from '../support/senders';
import { startTelegramStandIn, type TelegramBehaviour, type TelegramStandIn } from '../support/stand-ins/telegram';

describe('the sender telegram', () => {
  let telegram: TelegramStandIn;

  beforeEach(async () => {
    telegram = await startTelegramStandIn();
  });
  afterEach(() => telegram.close());

  const sender = (options: Partial<TelegramOptions> = {}) =>
    new TelegramSender({
      token: telegram.token,
      ttlSeconds: 300,
      apiUrl: telegram.url,
      timeoutMs: PATIENT_MS,
      ...options,
    });
  const message = { ...MESSAGE, channel: 'telegram' as const };

  it('sends our code in one request, and is told the name of the message', async () => {
    expect(await sender().send(message)).toEqual({ reference: 'tg-1' });
    expect(telegram.requests.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      { phone_number: message.to, code: message.code, ttl: 300 },
    ]);
  });

  it.each([
    [1, 30],
    [86_400, 3_600],
  ])('keeps the time of %i seconds within the limits of Telegram: %i', async (ttlSeconds, ttl) => {
    await sender({ ttlSeconds }).send(message);
    expect(JSON.parse(telegram.requests[0]?.body ?? '')).toMatchObject({ ttl });
  });

  // guard senders-telegram-1: a number without Telegram leads to the next way, and does not count as a failure
  // src/integrations/senders/telegram/sender.ts
  // - , 'PHONE_NUMBER_NOT_AVAILABLE'
  // guard senders-telegram-2: free text of a vendor does not get into an error
  // src/integrations/senders/telegram/sender.ts
  // - /^[A-Z_\d]{1,40}$/.test(error) ? error : undefined
  // + error
  it.each<[string, TelegramBehaviour, string]>([
    ['PHONE_NUMBER_NOT_AVAILABLE', { error: 'PHONE_NUMBER_NOT_AVAILABLE' }, 'refused'],
    ['PHONE_NUMBER_NOT_FOUND', { error: 'PHONE_NUMBER_NOT_FOUND' }, 'refused'],
    ['PHONE_NUMBER_INVALID', { error: 'PHONE_NUMBER_INVALID' }, 'refused'],
    ['ACCESS_TOKEN_INVALID', { error: 'ACCESS_TOKEN_INVALID' }, 'failed'],
    ['BALANCE_NOT_ENOUGH', { error: 'BALANCE_NOT_ENOUGH' }, 'failed'],
    ['FLOOD_WAIT_30', { error: 'FLOOD_WAIT_30' }, 'failed'],
    ['CODE_INVALID', { error: 'CODE_INVALID' }, 'failed'],
    ['an error in free text', { error: `the code ${MESSAGE.code} to ${MESSAGE.to} is not good` }, 'failed'],
    ['an outage', { status: 500 }, 'failed'],
    ['a proxy in between', 'gateway', 'failed'],
    ['an answer that is not JSON', 'garbage', 'failed'],
    ['an answer that is not of Telegram', 'foreign', 'failed'],
    ['no body', 'empty', 'failed'],
    ['no answer', 'hang', 'unknown'],
    ['an answer without an end', 'trickle', 'unknown'],
    ['a broken connection', 'reset', 'unknown'],
  ])('tells %s apart, and shows no secret', async (_case, behaviour, expected) => {
    telegram.behave(behaviour);
    const impatient = sender(limitWith(behaviour));
    expect(await outcomeOf(impatient, message)).toBe(expected);
    expect(secretsIn(await toldBy(impatient, message), [telegram.token])).toEqual([]);
  });

  it('tells the word of Telegram', async () => {
    telegram.behave({ error: 'BALANCE_NOT_ENOUGH' });
    await expect(sender().send(message)).rejects.toThrow(
      'Telegram did not take the message (HTTP status 200, code BALANCE_NOT_ENOUGH)',
    );
    telegram.behave({ error: 'PHONE_NUMBER_NOT_FOUND' });
    const providerCode = 'PHONE_NUMBER_NOT_FOUND';
    await expect(sender().send(message)).rejects.toMatchObject({ name: 'NumberRefused', providerCode });
  });

  it('fails where nothing listens', async () => {
    expect(await outcomeOf(sender({ apiUrl: `http://127.0.0.1:${await unusedPort()}` }), message)).toBe('failed');
  });

  it('sends no text', async () => {
    const { code: _code, ...notice } = message;
    expect(await outcomeOf(sender(), notice)).toBe('failed');
    expect(telegram.requests).toEqual([]);
  });
});
