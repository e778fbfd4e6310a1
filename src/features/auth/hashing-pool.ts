import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Unavailable } from '../../errors';

/** The part of bcrypt that is used. */
export interface Hashing {
  hash(password: string, cost: number): Promise<string>;
  compare(password: string, passwordHash: string): Promise<boolean>;
}

type Task =
  | { operation: 'hash'; password: string; cost: number }
  | { operation: 'compare'; password: string; passwordHash: string };

interface Job {
  task: Task;
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

interface Reply {
  result?: unknown;
  failure?: string;
}

const GONE = 'the password could not be checked: try again';

/**
 * Hashes passwords in a few threads of low priority, so that a storm of logins uses only idle processors. When more
 * passwords wait than a few seconds suffice for, the next is refused at once.
 */
export class HashingPool implements Hashing {
  private readonly idle: Worker[] = [];
  private readonly workers = new Set<Worker>();
  private readonly waiting: Job[] = [];
  private readonly underWay = new Map<Worker, Job>();
  private closed = false;

  constructor(
    private readonly threads: number,
    private readonly mostWaiting: number,
  ) {}

  async hash(password: string, cost: number): Promise<string> {
    return String(await this.run({ operation: 'hash', password, cost }));
  }

  async compare(password: string, passwordHash: string): Promise<boolean> {
    return (await this.run({ operation: 'compare', password, passwordHash })) === true;
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const { reject } of this.waiting.splice(0)) reject(new Unavailable(GONE));
    await Promise.all([...this.workers].map((worker) => worker.terminate()));
  }

  private run(task: Task): Promise<unknown> {
    if (this.closed) throw new Unavailable(GONE);
    if (this.waiting.length >= this.mostWaiting)
      throw new Unavailable('too many passwords are being checked: try again shortly');
    return new Promise((resolve, reject) => {
      this.waiting.push({ task, resolve, reject });
      this.next();
    });
  }

  private next(): void {
    const worker = this.idle.pop() ?? this.startWorker();
    if (!worker) return;
    const job = this.waiting.shift();
    if (!job) {
      this.idle.push(worker);
      return;
    }
    this.underWay.set(worker, job);
    worker.postMessage(job.task);
  }

  /** Starts threads as they are needed, also after one has died. */
  private startWorker(): Worker | undefined {
    if (this.closed || this.workers.size >= this.threads) return undefined;
    const worker = new Worker(join(__dirname, 'hashing-worker.cjs'));
    worker.unref();
    this.workers.add(worker);
    worker.on('message', ({ result, failure }: Reply) => {
      this.settle(worker, failure === undefined ? undefined : new Error(failure), result);
      this.idle.push(worker);
      this.next();
    });
    worker.on('error', (error) => this.settle(worker, error));
    worker.on('exit', () => {
      this.workers.delete(worker);
      const place = this.idle.indexOf(worker);
      if (place >= 0) this.idle.splice(place, 1);
      this.settle(worker, new Unavailable(GONE));
      if (this.waiting.length > 0) this.next();
    });
    return worker;
  }

  private settle(worker: Worker, error: Error | undefined, result?: unknown): void {
    const job = this.underWay.get(worker);
    this.underWay.delete(worker);
    if (error) job?.reject(error);
    else job?.resolve(result);
  }
}
