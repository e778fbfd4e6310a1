import { indexedDbStorage } from '../../packages/client/src/index.ts';

/** A browser's IndexedDB, as far as the client uses it. */
class StandIn {
  readonly values = new Map<string, string>();
  readonly connections: Connection[] = [];

  open(): object {
    const connection = new Connection(this.values);
    this.connections.push(connection);
    return answered(connection);
  }
}

class Connection {
  onclose: (() => void) | null = null;
  onversionchange: (() => void) | null = null;
  isClosed = false;

  constructor(private readonly values: Map<string, string>) {}

  close(): void {
    this.isClosed = true;
  }

  transaction(): object {
    if (this.isClosed) throw new DOMException('the connection is closing', 'InvalidStateError');
    const store = {
      get: (key: string) => answered(this.values.get(key)),
      put: (value: string, key: string) => this.values.set(key, value),
      delete: (key: string) => this.values.delete(key),
    };
    const transaction = { objectStore: () => store, oncomplete: null as (() => void) | null };
    setImmediate(() => transaction.oncomplete?.());
    return transaction;
  }
}

function answered(result: unknown): object {
  const request = { result, onsuccess: null as (() => void) | null };
  setImmediate(() => request.onsuccess?.());
  return request;
}

describe('the storage of a browser', () => {
  let browser: StandIn;

  beforeEach(() => {
    browser = new StandIn();
    Object.assign(globalThis, { indexedDB: browser });
  });
  afterEach(() => Reflect.deleteProperty(globalThis, 'indexedDB'));

  const close = {
    'and tells': (connection?: Connection) => {
      connection?.close();
      connection?.onclose?.();
    },
    'and tells nobody': (connection?: Connection) => connection?.close(),
    'because another tab has a newer version': (connection?: Connection) => connection?.onversionchange?.(),
  };

  // guard indexed-db-1: the storage of a browser reopens a closed connection
  // packages/client/src/indexed-db.ts
  // - (error as { name?: unknown }).name !== 'InvalidStateError'
  // + error
  it.each(Object.entries(close))('reopens a connection that the browser closes, %s', async (_words, closes) => {
    const storage = indexedDbStorage();
    await storage.setItem('key', 'value');
    closes(browser.connections[0]);
    expect(await Promise.all([storage.getItem('key'), storage.getItem('other')])).toEqual(['value', null]);
    expect(browser.connections.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  });

  it('does not try a third time', async () => {
    const storage = indexedDbStorage();
    jest.spyOn(Connection.prototype, 'transaction').mockImplementation(() => {
      throw new DOMException('the connection is closing', 'InvalidStateError');
    });
    await expect(storage.getItem('key')).rejects.toThrow('is closing');
    expect(browser.connections).toHaveLength(2);
    jest.restoreAllMocks();
  });
});
