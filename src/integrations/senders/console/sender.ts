import type { Message, Sender } from '../sender';

/**
 * Prints to a developer's terminal. Not through the logger: its level must not hide codes, and no log may contain one.
 */
export class ConsoleSender implements Sender {
  constructor(private readonly output: NodeJS.WritableStream = process.stdout) {}

  send({ to, channel, body }: Message): Promise<void> {
    const line = `${channel === 'sms' ? 'SMS' : channel} to ${to}: ${body.replace(/\s*[\r\n]+\s*/g, ' ')}\n`;
    return new Promise((resolve, reject) => {
      this.output.write(line, (error) => (error ? reject(error) : resolve()));
    });
  }
}
