import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

export interface Reception {
  /** Id of the event. */
  id: string;
  type: string;
  data: Record<string, string>;
  at: number;
}

type Answer = (response: ServerResponse) => void;

const PART = Buffer.alloc(64 * 1_024);
const PARTS_OF_10_GB = 160 * 1_024;
const LATE_MS = 60_000;

export const take: Answer = (response) => void response.writeHead(204).end();

/** Answers as receivers must not. */
export const late: Answer = (response) => void setTimeout(() => take(response), LATE_MS).unref();
export const flood: Answer = (response) => {
  Readable.from(Array<Buffer>(PARTS_OF_10_GB).fill(PART)).pipe(response.writeHead(200));
};
export const redirectTo =
  (url: string): Answer =>
  (response) =>
    void response.writeHead(307, { Location: url }).end();

/** Another service, which a webhook tells of events. */
export class Receiver {
  readonly received: Reception[] = [];
  answer = take;
  /** Signs its events, once it is known. */
  secret: string | undefined;
  /** Number of requests with a wrong signature, or one that is older or newer than five minutes. */
  refused = 0;
  private server: Server | undefined;
  private port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  /** Listens, after `kill` at the same port. */
  async start(): Promise<this> {
    this.server = createServer((request, response) => {
      const note = (body: string) => {
        if (!this.isSigned(body, request.headers)) return response.writeHead(401).end();
        const { type, data } = JSON.parse(body) as Pick<Reception, 'type' | 'data'>;
        this.received.push({ id: String(request.headers['webhook-id']), type, data, at: Date.now() });
        return this.answer(response);
      };
      text(request).then(note, () => undefined);
    });
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
    return this;
  }

  private isSigned(body: string, headers: IncomingHttpHeaders): boolean {
    try {
      if (this.secret !== undefined) new Webhook(this.secret).verify(body, headers as Record<string, string>);
      return true;
    } catch {
      this.refused += 1;
      return false;
    }
  }

  /** Ends it after the next event was received and before it is answered. */
  async killAtNext(): Promise<void> {
    const { answer } = this;
    await new Promise<void>((resolve) => (this.answer = () => resolve()));
    await this.kill();
    this.answer = answer;
  }

  /** Breaks all connections. New ones are refused. */
  async kill(): Promise<void> {
    const { server } = this;
    if (!server?.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
}
