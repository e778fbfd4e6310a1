/** As pino numbers them. */
const LEVELS = { info: 30, fatal: 60 };

/** Beside the log, which can be silenced: what whoever starts the service is told. */
export class StartLog {
  /** Lines for people, or JSON like the log's for what collects them. */
  constructor(private readonly isJson: () => boolean) {}

  say(line: string, fields: Record<string, string> = {}): void {
    process.stdout.write(this.written('info', line, fields));
  }

  /** Why the service does not start. */
  fail(line: string): void {
    process.stderr.write(this.written('fatal', line, {}));
  }

  private written(level: keyof typeof LEVELS, msg: string, fields: Record<string, string>): string {
    const line = this.isJson() ? JSON.stringify({ level: LEVELS[level], time: Date.now(), ...fields, msg }) : msg;
    return `${line}\n`;
  }
}
