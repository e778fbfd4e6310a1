/** Levels with the numbers of pino. */
const LEVELS = { info: 30, warn: 40, fatal: 60 };

/** Output for the person who starts the service, besides the log, which can be silenced. */
export class StartLog {
  /** Writes lines for people, or JSON like the log, for log collectors. */
  constructor(private readonly isJson: () => boolean) {}

  say(line: string, fields: Record<string, string> = {}): void {
    process.stdout.write(this.written('info', line, fields));
  }

  /** Warns that the service starts, but perhaps not as intended. */
  warn(line: string): void {
    process.stderr.write(this.written('warn', line, {}));
  }

  /** Reports why the service does not start: one line, or a headline and details. */
  fail(headline: string, lines: string[] = []): void {
    const indented = this.isJson() ? lines : lines.map((line) => `  ${line}`);
    process.stderr.write([headline, ...indented].map((line) => this.written('fatal', line, {})).join(''));
  }

  private written(level: keyof typeof LEVELS, msg: string, fields: Record<string, string>): string {
    const line = this.isJson() ? JSON.stringify({ level: LEVELS[level], time: Date.now(), ...fields, msg }) : msg;
    return `${line}\n`;
  }
}
