import { join } from 'node:path';
import { DecoderProcess, decodersUnavailable, type DecoderAnswer, type Decoding } from './decoder-process';

/** Longest time for a start. It takes a tenth of a second, and a few seconds on a busy machine. */
const START_MS = 10_000;
const IDLE_MS = 60_000;

interface Options {
  script?: string;
  idleMs?: number;
}

/** The processes that decode images: started on demand, reused, and ended after a while without images. */
export class Decoders {
  private readonly all = new Set<DecoderProcess>();
  /** Idle processes, each with the timer that ends it. */
  private readonly idle = new Map<DecoderProcess, NodeJS.Timeout>();
  private readonly script: string;
  private readonly idleMs: number;
  private closed = false;

  constructor({ script = join(__dirname, 'image-decoder.cjs'), idleMs = IDLE_MS }: Options = {}) {
    this.script = script;
    this.idleMs = idleMs;
  }

  /** Kills the process when it takes longer. Throws then, and when it ends by itself; each time once it has ended. */
  async decode(image: Decoding, milliseconds: number): Promise<DecoderAnswer> {
    const decoder = this.takeIdle() ?? (await this.start());
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

  private async start(): Promise<DecoderProcess> {
    if (this.closed) throw decodersUnavailable();
    let decoder;
    try {
      decoder = new DecoderProcess(this.script);
      this.all.add(decoder);
      await decoder.ready(START_MS);
      return decoder;
    } catch (error) {
      if (decoder) await this.end(decoder);
      throw decodersUnavailable(error);
    }
  }

  private async end(decoder: DecoderProcess): Promise<void> {
    this.removeIdle(decoder);
    await decoder.end();
    this.all.delete(decoder);
  }
}
