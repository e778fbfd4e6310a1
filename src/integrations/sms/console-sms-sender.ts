import type { Sms, SmsSender } from './sms-sender';

/**
 * Prints to a developer's terminal. Not through the logger: its level must not hide codes, and no log may contain one.
 */
export class ConsoleSmsSender implements SmsSender {
  constructor(private readonly output: NodeJS.WritableStream = process.stdout) {}

  send({ to, body }: Sms): Promise<void> {
    const line = `SMS to ${to}: ${body.replace(/\s*[\r\n]+\s*/g, ' ')}\n`;
    return new Promise((resolve, reject) => {
      this.output.write(line, (error) => (error ? reject(error) : resolve()));
    });
  }
}
