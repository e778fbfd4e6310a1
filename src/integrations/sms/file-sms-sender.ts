import { appendFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Sms, SmsSender } from './sms-sender';

/** Writes messages to a file for scripts and tests: JSON lines that only the owner can read. */
export class FileSmsSender implements SmsSender {
  constructor(private readonly path: string) {}

  async send({ to, body, code }: Sms): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true });
    const line = JSON.stringify({ to, body, code, at: new Date().toISOString() });
    await appendFile(this.path, `${line}\n`, { mode: 0o600 });
  }
}
