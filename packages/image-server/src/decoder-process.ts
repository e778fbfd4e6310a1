import { fork, type ChildProcess } from 'node:child_process';
import { z } from 'zod';
import { Refusal } from './errors';
import { within } from './timeout';

/** An image to decode and re-encode. */
export interface Decoding {
  source: string;
  target: string;
  mime: string;
  maxPixels: number;
  maxFrames: number;
}

/** An answer of the process. It is validated, since the process reads files that strangers send. */
const decoderAnswer = z.object({
  outcome: z.enum(['ready', 'written', 'no room', 'too many pixels', 'too many frames', 'unreadable']),
  /** The library's message, for the log. */
  message: z.string().optional(),
});

export type DecoderAnswer = z.infer<typeof decoderAnswer>;

/** A child process that decodes one image at a time. Unlike a thread, it can be killed whatever it is doing. */
export class DecoderProcess {
  private readonly child: ChildProcess;

  constructor(script: string) {
    // An empty environment: the service's own holds secrets.
    this.child = fork(script, { env: {}, execArgv: [], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    // `nextAnswer` reports the error to its caller.
    this.child.on('error', () => {});
    this.child.unref();
    this.child.channel?.unref();
  }

  /** Whether the process has ended, or could not be started: it then has no process id. */
  get isGone(): boolean {
    const { pid, exitCode, signalCode } = this.child;
    return pid === undefined || exitCode !== null || signalCode !== null;
  }

  /** Resolves once the process can take an image. */
  async ready(milliseconds: number): Promise<void> {
    const { outcome } = await this.nextAnswer(milliseconds);
    if (outcome !== 'ready') throw new Error(`the decoder's first message was "${outcome}", not "ready"`);
  }

  async decode(image: Decoding, milliseconds: number): Promise<DecoderAnswer> {
    const answer = this.nextAnswer(milliseconds);
    this.child.send(image, () => {});
    return answer;
  }

  /** Kills the process. Resolves once it has ended. */
  async end(): Promise<void> {
    if (this.isGone) return;
    const exit = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.ref();
    this.child.kill('SIGKILL');
    await exit;
  }

  private async nextAnswer(milliseconds: number): Promise<DecoderAnswer> {
    const { child } = this;
    let stopListening = () => {};
    const message = new Promise<unknown>((resolve, reject) => {
      const gone = () => fail(new Error('the decoder has ended'));
      const fail = (cause: Error) => reject(decodersUnavailable(cause));
      stopListening = () => child.off('message', resolve).off('exit', gone).off('error', fail);
      child.on('message', resolve).on('exit', gone).on('error', fail);
      if (this.isGone) gone();
    });
    return decoderAnswer.parse(await within(milliseconds, message).finally(() => stopListening()));
  }
}

/** Returns the refusal for a decoder that ended, for example without memory. Another image may be the cause. */
export function decodersUnavailable(cause?: unknown): Refusal {
  return new Refusal('images_unavailable', 'images cannot be decoded now: try again shortly', { cause });
}
