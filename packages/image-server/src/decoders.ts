import { join } from 'node:path';
import { DecoderProcess, decodersUnavailable, type DecoderAnswer, type Decoding } from './decoder-process';
import { TookTooLong, within } from './timeout';

/** Longest time that an image waits for a start, which takes a tenth of a second, and half a minute on a busy machine. */
const WAIT_MS = 30_000;
/** Longest time for a start. One that is too late for its image serves the next one. */
const START_MS = 120_000;
const IDLE_MS = 60_000;

interface Options {
  script?: string;
  idleMs?: number;
  waitMs?: number;
}

/** The processes that decode images: started for an upload, reused, and ended after a while without images. */
export class Decoders {
  private readonly all = new Set<DecoderProcess>();
  /** Idle processes, each with the timer that ends it. */
  private readonly idle = new Map<DecoderProcess, NodeJS.Timeout>();
  /** Starts that no image waits for. */
  private readonly ahead = new Set<Promise<DecoderProcess>>();
  private readonly script: string;
  private readonly idleMs: number;
  private readonly waitMs: number;
  private closed = false;

  constructor({ script = join(__dirname, 'image-decoder.cjs'), idleMs = IDLE_MS, waitMs = WAIT_MS }: Options = {}) {
    this.script = script;
    this.idleMs = idleMs;
    this.waitMs = waitMs;
  }

  /** Starts the first process, while its image is still being received. */
  prepare(): void {
    if (this.all.size === 0) this.keep(this.start());
  }

  /** Kills the process when it takes longer. Throws then, and when it ends by itself; each time once it has ended. */
  async decode(image: Decoding, milliseconds: number): Promise<DecoderAnswer> {
    const decoder = this.takeIdle() ?? (await this.started());
    try {
      const answer = await decoder.decode(image, milliseconds);
      this.addIdle(decoder);
      return answer;
    } catch (error) {
      await this.end(decoder);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.all].map((decoder) => this.end(decoder)));
  }

  /** Returns the process that was busy last, so that the others reach their time limit and end. */
  private takeIdle(): DecoderProcess | undefined {
    const decoder = [...this.idle.keys()].findLast(({ isGone }) => !isGone);
    if (decoder) this.removeIdle(decoder);
    return decoder;
  }

  private addIdle(decoder: DecoderProcess): void {
    this.idle.set(decoder, setTimeout(() => void this.end(decoder), this.idleMs).unref());
  }

  private removeIdle(decoder: DecoderProcess): void {
    clearTimeout(this.idle.get(decoder));
    this.idle.delete(decoder);
  }

  private async started(): Promise<DecoderProcess> {
    const [first] = this.ahead;
    const starting = first ?? this.start();
    this.ahead.delete(starting);
    try {
      return await within(this.waitMs, starting);
    } catch (error) {
      if (error instanceof TookTooLong) this.keep(starting);
      throw decodersUnavailable(error);
    }
  }

  /** Keeps a start for the next image. The image that takes it is told of a failure. */
  private keep(starting: Promise<DecoderProcess>): void {
    this.ahead.add(starting);
    starting.then(
      (decoder) => {
        if (this.ahead.delete(starting)) this.addIdle(decoder);
      },
      () => this.ahead.delete(starting),
    );
  }

  private async start(): Promise<DecoderProcess> {
    if (this.closed) throw decodersUnavailable();
    const decoder = new DecoderProcess(this.script);
    this.all.add(decoder);
    try {
      await decoder.ready(START_MS);
      return decoder;
    } catch (error) {
      await this.end(decoder);
      throw new Error('a decoder did not start', { cause: error });
    }
  }

  private async end(decoder: DecoderProcess): Promise<void> {
    this.removeIdle(decoder);
    await decoder.end();
    this.all.delete(decoder);
  }
}
