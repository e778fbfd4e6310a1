import { BreakerOpen } from '../../src/load/breaker';
import { HttpSender, type HttpOptions } from '../../src/integrations/senders/http/sender';
import { rememberSecret } from '../support/secrets';
import { PATIENT_MS } from '../support/patience';
import { limitWith, MESSAGE, outcomeOf, secretsIn, toldBy, unusedPort } from '../support/senders';
import { startSmsEndpoint, type EndpointBehaviour, type SmsEndpoint } from '../support/stand-ins/sms-endpoint';

const OTHER_SECRET = rememberSecret('whsec_b3RoZXItc2VjcmV0LW9mLXRoZS1zYW1lLWxlbmd0aC4uLg==');

describe('the sender http', () => {
  let endpoint: SmsEndpoint;

  beforeEach(async () => {
    endpoint = await startSmsEndpoint();
  });
  afterEach(() => endpoint.close());

  const sender = (options: Partial<HttpOptions> = {}) =>
    new HttpSender({ url: `${endpoint.url}/sms`, secrets: [endpoint.secret], timeoutMs: PATIENT_MS, ...options });

  // guard senders-http-1: an operator's endpoint can tell messages of the service from others
  // src/integrations/senders/http/sender.ts
  // - signedHeaders(secrets, { id, body, at: Date.now() })
  // + {}
  it('posts the message, signed as the library of Standard Webhooks verifies it', async () => {
    const sent = await sender().send(MESSAGE);
    const { to, channel, body, code, language } = MESSAGE;
    expect(endpoint.taken).toEqual([{ id: sent.reference, to, channel, body, code, language }]);
    expect(endpoint.requests.map(({ headers, path }) => [headers['webhook-id'], path])).toEqual([
      [sent.reference, '/sms'],
    ]);
  });

  it('leaves out what a notice does not have', async () => {
    const { to, channel, body } = MESSAGE;
    const { reference } = await sender().send({ to, channel, body });
    expect(endpoint.taken).toEqual([{ id: reference, to, channel, body }]);
  });

  it('signs by each of two secrets, so that one can be changed', async () => {
    const sent = { reference: expect.any(String) as string };
    expect(await outcomeOf(sender({ secrets: [OTHER_SECRET, endpoint.secret] }))).toEqual(sent);
    expect(await outcomeOf(sender({ secrets: [endpoint.secret, OTHER_SECRET] }))).toEqual(sent);
    expect(await outcomeOf(sender({ secrets: [OTHER_SECRET] }))).toBe('failed');
  });

  it('takes the name that the endpoint gives the message', async () => {
    endpoint.behave({ status: 200, json: { reference: 'batch-7/1' } });
    expect(await outcomeOf(sender())).toEqual({ reference: 'batch-7/1' });
  });

  // guard senders-http-2: a message whose connection broke may still arrive, and does not go another way
  // src/integrations/senders/vendor-call.ts
  // - || error instanceof CutOff
  it.each<[EndpointBehaviour, 'sent' | 'refused' | 'failed' | 'unknown']>([
    [{ status: 200 }, 'sent'],
    [{ status: 200, json: { reference: 7 } }, 'sent'],
    ['empty', 'sent'],
    ['garbage', 'sent'],
    [{ status: 422 }, 'refused'],
    [{ status: 400 }, 'failed'],
    [{ status: 401 }, 'failed'],
    [{ status: 410 }, 'failed'],
    [{ status: 429 }, 'failed'],
    [{ status: 500 }, 'failed'],
    ['gateway', 'failed'],
    ['hang', 'unknown'],
    ['trickle', 'unknown'],
    ['reset', 'unknown'],
  ])('takes the answer %j as %s, and shows no secret', async (behaviour, expected) => {
    endpoint.behave(behaviour);
    const impatient = sender(limitWith(behaviour));
    const outcome = await outcomeOf(impatient);
    expect(typeof outcome === 'string' ? outcome : 'sent').toBe(expected);
    expect(secretsIn(await toldBy(impatient), [endpoint.secret])).toEqual([]);
  });

  // guard senders-http-3: a code does not follow a redirect
  // src/integrations/post.ts
  // - redirect: 'error',
  it('follows no redirect', async () => {
    const other = await startSmsEndpoint();
    endpoint.behave({ status: 307, headers: { Location: other.url } });
    expect(await outcomeOf(sender())).toBe('failed');
    expect(other.requests).toEqual([]);
    await other.close();
  });

  it('fails if nothing listens there, so that the next way may follow', async () => {
    expect(await outcomeOf(sender({ url: `http://127.0.0.1:${await unusedPort()}` }))).toBe('failed');
  });

  // guard senders-http-4: a sender that does not answer is not asked for each code
  // src/integrations/senders/vendor-call.ts
  // - return this.breaker.run(() => this.exchange(url, body, headers));
  // + return this.exchange(url, body, headers);
  it('does not ask again for a while after three calls in a row without an answer', async () => {
    endpoint.behave('reset');
    const broken = sender();
    for (let count = 0; count < 3; count += 1) expect(await outcomeOf(broken)).toBe('unknown');
    await expect(broken.send(MESSAGE)).rejects.toThrow(BreakerOpen);
    expect(endpoint.requests).toHaveLength(3);
  });
});
