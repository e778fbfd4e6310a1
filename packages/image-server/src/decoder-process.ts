import { fork, type ChildProcess } from 'node:child_process';
import { z } from 'zod';
import { Refusal } from './errors';
import { within } from './timeout';

/** An image that is to be decoded and written anew. */
export interface Decoding {
  source: string;
  target: string;
  mime: string;
  maxPixels: number;
  maxFrames: number;
}

/** The process reads what strangers send, so what it says is looked at too. */
const word = z.object({
  outcome: z.enum(['ready', 'written', 'no room', 'too many pixels', 'too many frames', 'unreadable']),
  /** The library's, for the log. */
  message: z.string().optional(),
});

export type Word = z.infer<typeof word>;

/** A child process that decodes one image after the other. Unlike a thread, it can be ended whatever it is doing. */
export class DecoderProcess {
  private readonly child: ChildProcess;

  constructor(script: string) {
    // Nothing of the environment, which holds the service's secrets.
    this.child = fork(script, { env: {}, execArgv: [], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    // Told again to whoever waits for a word.
    this.child.on('error', () => {});
    this.child.unref();
    this.child.channel?.unref();
  }

  /** Without a process id it could not be started. */
  get isGone(): boolean {
    const { pid, exitCode, signalCode } = this.child;
    return pid === undefined || exitCode !== null || signalCode !== null;
  }

  /** Once it can take an image. */
  async ready(milliseconds: number): Promise<void> {
    const { outcome } = await this.nextWord(milliseconds);
    if (outcome !== 'ready') throw new Error('the decoder began with another word');
  }

  async decode(image: Decoding, milliseconds: number): Promise<Word> {
    const answer = this.nextWord(milliseconds);
    this.child.send(image, () => {});
    return answer;
  }

  /** Resolves once nothing of it runs any more. */
  async end(): Promise<void> {
    if (this.isGone) return;
    const exit = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.ref();
    this.child.kill('SIGKILL');
    await exit;
  }

  private async nextWord(milliseconds: number): Promise<Word> {
    const { child } = this;
    let leave = () => {};
    const said = new Promise<unknown>((resolve, reject) => {
      const gone = () => fail(new Error('the decoder has ended'));
      const fail = (cause: Error) => reject(decodersAway(cause));
      leave = () => child.off('message', resolve).off('exit', gone).off('error', fail);
      child.on('message', resolve).on('exit', gone).on('error', fail);
      if (this.isGone) gone();
    });
    return word.parse(await within(milliseconds, said).finally(() => leave()));
  }
}

/** As when memory runs out, which may be the fault of another image. */
export function decodersAway(cause?: unknown): Refusal {
  return new Refusal('images_unavailable', 'images cannot be decoded now: try again shortly', { cause });
}
