import { Parts } from '../../src/composition/parts';
import { silent } from '../support/silent';

describe('the stop of features', () => {
  // guard parts-1: the stop closes nothing that unfinished work still uses
  // src/composition/parts.ts
  // - await Promise.all(this.all('resources').map((resource) => resource.close()));
  // src/composition/parts.ts
  // - const ended =
  // + await Promise.all(this.all('resources').map((resource) => resource.close()));
  // +     const ended =
  it('ends work beside requests and after answers before what both use, and connections last', async () => {
    const closed: string[] = [];
    const later = (name: string) => () => new Promise<void>((end) => setImmediate(() => end(void closed.push(name))));
    const background = { ends: { finish: later('work after answers') } };
    const connections = { close: later('connections') };
    const features = [
      { resources: [{ close: later('storage') }] },
      { workers: [{ close: later('webhooks') }], resources: [{ close: later('hashing') }] },
    ];
    await new Parts(features, { background, connections, logger: silent }).close();
    expect(closed).toEqual(['webhooks', 'work after answers', 'storage', 'hashing', 'connections']);
  });

  it('does not wait long for a worker, whose work another instance does', async () => {
    jest.useFakeTimers();
    const never = { close: () => new Promise(() => undefined) };
    const connections = { close: jest.fn(() => Promise.resolve()) };
    const closing = new Parts([{ workers: [never] }], { background: {}, connections, logger: silent }).close();
    await jest.advanceTimersByTimeAsync(1_000);
    await closing;
    expect(connections.close).toHaveBeenCalledTimes(1);
    jest.useRealTimers();
  });
});
