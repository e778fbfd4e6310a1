import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { builtClient } from './built-client';

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8" />
<title>An app</title>
<link rel="icon" href="data:," />
<script type="module" src="app.mjs"></script>
</html>
`;

/**
 * The script of the page: a client, a store in IndexedDB, one in memory, and the events that their listeners received.
 */
const APP = `
import { Client, indexedDbStorage, SyncStore } from './client/index.js';

const service = new URLSearchParams(location.search).get('service') ?? location.origin;
const client = new Client({ baseUrl: service, repeats: 0 });
const store = new SyncStore(client, { storage: indexedDbStorage(), names: true });
const own = new SyncStore(client, { prefix: 'own' });
const told = [];
store.onChange((changes) => told.push(changes));
const sessions = [];
client.onSession((event) => sessions.push(event));

const connect = () => new Promise((resolve, reject) => {
  const request = indexedDB.open('user-account-service');
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});
const storedKeys = async () => {
  const database = await connect();
  const request = database.transaction('values').objectStore('values').getAllKeys();
  await new Promise((resolve) => (request.onsuccess = resolve));
  database.close();
  return request.result;
};

Object.assign(globalThis, { client, store, own, told, sessions, storedKeys });
`;

/** The script of a worker, which has no document: it synchronises on request, and posts the result. */
const WORKER = `
import { Client, indexedDbStorage, SyncStore } from './client/index.js';

const store = new SyncStore(new Client({ baseUrl: location.origin, repeats: 0 }), { storage: indexedDbStorage(), names: true });
onmessage = async () => postMessage(await store.sync());
`;

/**
 * An app's site. It forwards requests for other paths to the service, like a proxy that serves both from one origin.
 */
export class ClientSite {
  /** Awaited before each piece of an answer of the service. If it throws, the answer ends there. */
  beforePiece: (path: string) => Promise<void> = () => Promise.resolve();

  private constructor(
    private readonly server: Server,
    private readonly files: ReadonlyMap<string, string>,
    private readonly service: string,
  ) {}

  static async start(service: string): Promise<ClientSite> {
    const modules = [...builtClient()].map(([name, text]) => [`/client/${name}`, text] as const);
    const files = new Map<string, string>([['/', PAGE], ['/app.mjs', APP], ['/worker.mjs', WORKER], ...modules]);
    const server = createServer();
    const site = new ClientSite(server, files, service);
    server.on('request', (req: IncomingMessage, res: ServerResponse) => site.answer(req, res));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return site;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private answer(req: IncomingMessage, res: ServerResponse): void {
    const { pathname } = new URL(req.url ?? '/', this.url);
    const file = req.method === 'GET' ? this.files.get(pathname) : undefined;
    if (file === undefined) {
      this.forward(req, res, pathname).catch(() => res.destroy());
      return;
    }
    res.setHeader('Content-Type', pathname === '/' ? 'text/html' : 'text/javascript');
    res.end(file);
  }

  private async forward(req: IncomingMessage, res: ServerResponse, path: string): Promise<void> {
    const sent = request(new URL(req.url ?? '/', this.service), { method: req.method, headers: req.headers });
    res.on('close', () => sent.destroy());
    sent.on('error', () => res.destroy());
    req.pipe(sent);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    res.writeHead(answer.statusCode ?? 502, answer.headers);
    for await (const piece of answer) {
      await this.beforePiece(path);
      res.write(piece);
    }
    res.end();
  }
}
