import { Unavailable } from '../../errors';

type Turn = () => Promise<void>;

/** Runs heavy jobs one at a time. Users take turns, so that one who has many jobs delays another by one of them. */
export class SyncQueue {
  /** By user, in the order of their turns. */
  private readonly waiting = new Map<string, Turn[]>();
  private isRunning = false;

  /**
   * A job that has waited for longer than `mostMs` is refused, so that a queue that stands still soon becomes short.
   */
  run<T>(userId: string, mostMs: number, job: () => Promise<T>): Promise<T> {
    const asked = Date.now();
    const inTime = async () => {
      if (Date.now() - asked > mostMs) throw new Unavailable('overloaded', 'many are synchronising: try again shortly');
      return job();
    };
    return new Promise((resolve, reject) => {
      const turns = this.waiting.get(userId) ?? [];
      this.waiting.set(userId, turns);
      turns.push(() => inTime().then(resolve, reject));
      if (!this.isRunning) void this.runAll();
    });
  }

  private async runAll(): Promise<void> {
    this.isRunning = true;
    for (let turn = this.next(); turn; turn = this.next()) await turn();
    this.isRunning = false;
  }

  /** Whoever has had a turn is the last. */
  private next(): Turn | undefined {
    const [first] = this.waiting;
    if (!first) return undefined;
    const [userId, [turn, ...later]] = first;
    this.waiting.delete(userId);
    if (later.length > 0) this.waiting.set(userId, later);
    return turn;
  }
}
