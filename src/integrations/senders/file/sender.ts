import { appendFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Message, Sender } from '../sender';

/** Writes messages to a file for scripts and tests: JSON lines that only the owner can read. */
export class FileSender implements Sender {
  constructor(private readonly path: string) {}

  async send({ to, channel, body, code }: Message): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true });
    const line = JSON.stringify({
      to,
      ...(channel !== 'sms' && { channel }),
      body,
      code,
      at: new Date().toISOString(),
    });
    await appendFile(this.path, `${line}\n`, { mode: 0o600 });
  }
}
