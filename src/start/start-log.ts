/** As pino numbers them. */
const LEVELS = { info: 30, warn: 40, fatal: 60 };

/** Beside the log, which can be silenced: what whoever starts the service is told. */
export class StartLog {
  /** Lines for people, or JSON like the log's for what collects them. */
  constructor(private readonly isJson: () => boolean) {}

  say(line: string, fields: Record<string, string> = {}): void {
    process.stdout.write(this.written('info', line, fields));
  }

  /** The service starts, perhaps otherwise than was meant. */
  warn(line: string): void {
    process.stderr.write(this.written('warn', line, {}));
  }

  /** Why the service does not start: one line, or a headline and what it is about. */
  fail(headline: string, lines: string[] = []): void {
    const shown = this.isJson() ? lines : lines.map((line) => `  ${line}`);
    process.stderr.write([headline, ...shown].map((line) => this.written('fatal', line, {})).join(''));
  }

  private written(level: keyof typeof LEVELS, msg: string, fields: Record<string, string>): string {
    const line = this.isJson() ? JSON.stringify({ level: LEVELS[level], time: Date.now(), ...fields, msg }) : msg;
    return `${line}\n`;
  }
}
