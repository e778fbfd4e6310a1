import { join } from 'node:path';
import { decodersAway, DecoderProcess, type Decoding, type Word } from './decoder-process';

/** A start takes a tenth of a second, and on a machine that is busy with something else a few. */
const START_MS = 10_000;
const IDLE_MS = 60_000;

interface Options {
  script?: string;
  idleMs?: number;
}

/** The processes that decode images: started when they are needed, used again, and ended when nothing has come for a while. */
export class Decoders {
  private readonly all = new Set<DecoderProcess>();
  /** Each with the timer that ends it. */
  private readonly idle = new Map<DecoderProcess, NodeJS.Timeout>();
  private readonly script: string;
  private readonly idleMs: number;
  private closed = false;

  constructor({ script = join(__dirname, 'image-decoder.cjs'), idleMs = IDLE_MS }: Options = {}) {
    this.script = script;
    this.idleMs = idleMs;
  }

  /** What takes longer is ended. Throws for that, and for a process that ends by itself, once it has ended. */
  async decode(image: Decoding, milliseconds: number): Promise<Word> {
    const decoder = this.takeIdle() ?? (await this.start());
    try {
      const answer = await decoder.decode(image, milliseconds);
      this.rest(decoder);
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

  /** The one that was busy last, so that others come to their end. */
  private takeIdle(): DecoderProcess | undefined {
    const decoder = [...this.idle.keys()].findLast(({ isGone }) => !isGone);
    if (decoder) this.wake(decoder);
    return decoder;
  }

  private rest(decoder: DecoderProcess): void {
    this.idle.set(decoder, setTimeout(() => void this.end(decoder), this.idleMs).unref());
  }

  private wake(decoder: DecoderProcess): void {
    clearTimeout(this.idle.get(decoder));
    this.idle.delete(decoder);
  }

  private async start(): Promise<DecoderProcess> {
    if (this.closed) throw decodersAway();
    let decoder;
    try {
      decoder = new DecoderProcess(this.script);
      this.all.add(decoder);
      await decoder.ready(START_MS);
      return decoder;
    } catch (error) {
      if (decoder) await this.end(decoder);
      throw decodersAway(error);
    }
  }

  private async end(decoder: DecoderProcess): Promise<void> {
    this.wake(decoder);
    await decoder.end();
    this.all.delete(decoder);
  }
}
