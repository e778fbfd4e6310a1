import { request } from 'node:http';
import type { DecoderAnswer } from '../src/decoder-process';
import { ImageRewriter } from '../src/image-rewriter';
import { Queue } from '../../../src/load/queue';
import { QUEUES } from '../../../src/load/queues';
import { Gate } from '../../../test/support/gate';
import { multipartForm, PNG } from '../../../test/support/images';
import { until } from '../../../test/support/until';
import { startImageServer, type ImageServer } from './image-server';

const USER = 'user_A-1';

/** Each image is decoded until the test ends it. */
class SlowDecoders {
  readonly gates: Gate[] = [];

  async decode(): Promise<DecoderAnswer> {
    const gate = new Gate();
    this.gates.push(gate);
    await gate.wait();
    return { outcome: 'written' };
  }

  prepare(): void {}

  async close(): Promise<void> {
    for (const gate of this.gates) gate.open();
  }
}

/** Long enough that no image is dropped for having waited too long. */
const LONGER_THAN_A_TEST_MS = 1_200_000;

describe('an image that waits for its decoding', () => {
  let decoders: SlowDecoders;
  let server: ImageServer;
  let asked: jest.SpyInstance;
  beforeEach(async () => {
    decoders = new SlowDecoders();
    const rewriter = new ImageRewriter(new Queue({ ...QUEUES.decoding, waitMs: LONGER_THAN_A_TEST_MS }), decoders);
    asked = jest.spyOn(rewriter, 'rewrite');
    server = await startImageServer({ rewriter });
  });
  afterEach(() => server.close());

  const tokenOf = (userId = USER) => server.tokenOf(userId);
  const has = async (part: string, count: number) =>
    (await server.files()).filter((path) => path.includes(part)).length === count;
  const send = (method: string, path: string, headers: Record<string, string>, body: Buffer | string) => {
    const sending = request(server.url + path, { method, headers });
    const status = new Promise<number | undefined>((resolve) => {
      sending.on('error', () => resolve(undefined));
      sending.on('response', (response) => resolve(response.resume().statusCode));
    });
    sending.end(body);
    return { sending, status };
  };
  const upload = (userId = USER) => {
    const { headers, body } = multipartForm([
      ['token', tokenOf(userId)],
      ['file', PNG],
    ]);
    return send('POST', '/', headers, body);
  };
  const isDecoded = () => until(() => decoders.gates.length === 1);
  /** Waits after another image of its user. */
  const isWaiting = () => until(() => asked.mock.calls.length === 2);

  // guard waiting-images-1: a form whose client has gone is not decoded
  // packages/image-server/src/image-router.ts
  // - goneOf(res).signal
  // + new AbortController().signal
  it('is dropped when its client has gone', async () => {
    const first = upload();
    await isDecoded();
    const waiting = upload();
    await isWaiting();
    waiting.sending.destroy();
    let isDropped = false;
    (asked.mock.results[1]?.value as Promise<unknown>).catch(() => (isDropped = true));
    await until(() => isDropped);
    decoders.gates[0]?.open();
    await first.status;
    expect(decoders.gates).toHaveLength(1);
  });

  // guard waiting-images-2: a file of parts whose client has gone is not decoded, and can be completed again
  // packages/image-server/src/resumable-uploads.ts
  // - const gone = goneOf(res);
  // + const gone = new AbortController();
  it('can be completed again when its client has gone', async () => {
    const ctx = async () => {
      const headers = { Authorization: `UpToken ${tokenOf()}`, 'Content-Type': 'application/octet-stream' };
      const response = await fetch(`${server.url}/mkblk/${PNG.length}`, {
        method: 'POST',
        headers,
        body: new Uint8Array(PNG),
      });
      return String(((await response.json()) as Record<string, unknown>).ctx);
    };
    const complete = async (block: string) =>
      send(
        'POST',
        `/mkfile/${PNG.length}`,
        { Authorization: `UpToken ${tokenOf()}`, 'Content-Type': 'text/plain' },
        block,
      );
    await complete(await ctx());
    await isDecoded();
    const block = await ctx();
    const { sending } = await complete(block);
    await until(() => has('.claimed', 2));
    await isWaiting();
    sending.destroy();
    await until(() => has('.claimed', 1));
    expect(await has(`v1.${block}/`, 1)).toBe(true);
  });
});
