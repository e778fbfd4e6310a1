import { Inbox } from '../../src/integrations/senders/inbox';
import type { Message } from '../../src/integrations/senders/sender';
import { inParallel } from '../support/calls';

const sms = (number: number): Message => ({ to: `+4479000${number}`, channel: 'sms', body: `message ${number}` });

describe('the inbox of development', () => {
  // guard inbox-1: the inbox of development forgets old messages
  // src/integrations/senders/inbox.ts
  // - .slice(0, MOST)
  it('keeps the newest 100 messages, newest first', async () => {
    const inbox = new Inbox();
    const sender = inbox.of({ send: () => Promise.resolve() });
    for (let number = 0; number < 250; number += 1) await sender.send(sms(number));
    const bodies = inbox.newestFirst().map(({ body }) => body);
    expect(bodies).toEqual(Array.from({ length: 100 }, (_, index) => `message ${249 - index}`));
  });

  it('also sends each message, and keeps none whose sending failed', async () => {
    const sent: Message[] = [];
    const inbox = new Inbox();
    const sender = inbox.of({
      send: (one) => (sent.length < 2 ? Promise.resolve(void sent.push(one)) : Promise.reject(new Error('full'))),
    });
    await inParallel(2, (number) => sender.send(sms(number)));
    await expect(sender.send(sms(2))).rejects.toThrow('full');
    expect(sent).toEqual([sms(0), sms(1)]);
    expect(inbox.newestFirst()).toHaveLength(2);
  });
});
