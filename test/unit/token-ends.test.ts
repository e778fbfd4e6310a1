import { createLogger } from '../../src/base/logger';
import type { MessagingProvider } from '../../src/integrations/messaging/messaging-provider';
import { TokenEnds } from '../../src/integrations/messaging/token-ends';
import { Gate } from '../support/gate';

describe('TokenEnds', () => {
  it('runs one sweep at a time', async () => {
    const gate = new Gate();
    const messaging: MessagingProvider = {
      token: () => Promise.resolve(undefined),
      profileChanged: () => Promise.resolve(),
      endTokens: () => gate.wait(),
    };
    let claims = 0;
    const claim = () => {
      claims += 1;
      return Promise.resolve(claims === 1 ? [{ userId: 'ann', endedAt: new Date() }] : []);
    };
    const ends = new TokenEnds(messaging, { claim, removeEnd: () => Promise.resolve() }, createLogger('silent'));
    const sweeps = [ends.sweep()];
    await gate.reached;
    sweeps.push(ends.sweep());
    expect(claims).toBe(1);
    gate.open();
    await Promise.all(sweeps);
    await ends.sweep();
    expect(claims).toBe(3);
  });
});
