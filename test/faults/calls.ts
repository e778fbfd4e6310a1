import * as http from 'node:http';
import * as https from 'node:https';

/** The end of a call, as a client sees it. */
export type Kind = '200' | `${number}` | 'cut off' | 'no answer';

export interface Call {
  operation: string;
  begun: number;
  ms: number;
  kind: Kind;
}

export interface Answer {
  kind: Kind;
  status: number;
  /** The return code of a 200, otherwise the HTTP status. */
  code: number;
  result: unknown;
  cookie: string | undefined;
  body: Buffer;
}

export interface Sent {
  body?: object | Buffer;
  headers?: Record<string, string>;
  cookie?: string | undefined;
  method?: string;
}

const NO_ANSWER_MS = 20_000;
const KEPT = { keepAlive: true, maxSockets: 256 };

/** All calls of a run with their ends, from which the table is made. */
export class Calls {
  readonly made: Call[] = [];
  private socketPath: string | undefined;
  private request = http.request;
  private agent = new http.Agent(KEPT);

  /** `base` may change during the run: another instance, another port. */
  constructor(private readonly base: () => string) {}

  /** Sends all further calls to a proxy that listens on a local socket. */
  sendThrough(socketPath: string): void {
    this.socketPath = socketPath;
  }

  /** Sends all further calls over HTTPS, over new connections. */
  overHttps(options: https.AgentOptions): void {
    this.agent.destroy();
    this.agent = new https.Agent({ ...KEPT, ...options });
    this.request = https.request;
  }

  async post(path: string, sent: Sent = {}): Promise<Answer> {
    const [, , word = path] = path.split('/');
    return this.call(path, /^\/user\/[a-z_]+/.test(path) ? word : path === '/' ? 'upload' : 'user', sent);
  }

  async call(path: string, operation: string, sent: Sent = {}): Promise<Answer> {
    const begun = performance.now();
    const answer = await this.exchange(path, sent);
    this.made.push({ operation, begun, ms: performance.now() - begun, kind: answer.kind });
    return answer;
  }

  close(): void {
    this.agent.destroy();
  }

  private exchange(path: string, { body, headers: more, cookie, method = 'POST' }: Sent): Promise<Answer> {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body ? JSON.stringify(body) : '');
    const headers = {
      'Content-Length': bytes.length,
      ...more,
      ...(cookie !== undefined && { Cookie: cookie }),
    };
    return new Promise((resolve) => {
      const failed = (kind: Kind) =>
        resolve({ kind, status: 0, code: 0, result: undefined, cookie: undefined, body: Buffer.alloc(0) });
      const way = { agent: this.agent, timeout: NO_ANSWER_MS, ...(this.socketPath && { socketPath: this.socketPath }) };
      const call = this.request(`${this.base()}${path}`, { method, headers, ...way });
      call.on('response', (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', () => failed('cut off'));
        answer.on('end', () => {
          const status = answer.statusCode ?? 0;
          const [set] = answer.headers['set-cookie'] ?? [];
          resolve({ kind: `${status}`, status, cookie: set?.split(';')[0], ...parseBody(Buffer.concat(chunks)) });
        });
      });
      call.on('timeout', () => {
        failed('no answer');
        call.destroy();
      });
      call.on('error', () => failed('cut off'));
      call.end(bytes);
    });
  }
}

function parseBody(body: Buffer): Pick<Answer, 'code' | 'result' | 'body'> {
  if (body[0] !== 0x7b) return { code: 0, result: undefined, body };
  const { code, result } = JSON.parse(body.toString()) as { code: number; result?: unknown };
  return { code, result, body };
}
