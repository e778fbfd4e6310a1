import { Sending } from '../../src/features/sending/sending';
import type { PricedWay } from '../../src/features/sending/routes';

const ways: PricedWay[] = [
  { sender: 'console', channel: 'sms', cost: 1 },
  { sender: 'console', channel: 'voice', cost: 1 },
];

describe('the sending of a message', () => {
  // guard sending-1: a code is not tried by further ways after the request has been answered
  // src/features/sending/sending.ts
  // - if (this.now() - begun > MOST_MS) break;
  it('begins no other way after five seconds', async () => {
    let now = 0;
    const tried: string[] = [];
    const send = ({ channel }: { channel: string }) => {
      tried.push(channel);
      now += 5_001;
      return Promise.reject(new Error('the provider failed'));
    };
    const sending = new Sending(new Map([['console', { send }]]), () => now);
    await expect(sending.send(ways, { to: '+447400123456', body: () => '' })).rejects.toThrow('the provider failed');
    expect(tried).toEqual(['sms']);
  });
});
