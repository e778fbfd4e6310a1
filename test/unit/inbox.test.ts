import { Inbox } from '../../src/integrations/sms/inbox';
import type { Sms } from '../../src/integrations/sms/sms-sender';
import { inParallel } from '../support/calls';

const sms = (number: number): Sms => ({ to: `+4479000${number}`, body: `message ${number}` });

describe('the inbox of development', () => {
  it('keeps the newest 100 messages, newest first', async () => {
    const inbox = new Inbox({ send: () => Promise.resolve() });
    for (let number = 0; number < 250; number += 1) await inbox.send(sms(number));
    const bodies = inbox.newestFirst().map(({ body }) => body);
    expect(bodies).toEqual(Array.from({ length: 100 }, (_, index) => `message ${249 - index}`));
  });

  it('also sends each message, and keeps none whose sending failed', async () => {
    const sent: Sms[] = [];
    const inbox = new Inbox({
      send: (one) => (sent.length < 2 ? Promise.resolve(void sent.push(one)) : Promise.reject(new Error('full'))),
    });
    await inParallel(2, (number) => inbox.send(sms(number)));
    await expect(inbox.send(sms(2))).rejects.toThrow('full');
    expect(sent).toEqual([sms(0), sms(1)]);
    expect(inbox.newestFirst()).toHaveLength(2);
  });
});
