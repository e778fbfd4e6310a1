import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Unavailable } from '../../base/errors';
import type { Queue } from '../../load/queue';

/** The used part of bcrypt, with the address that asks for it. */
export interface Hashing {
  hash(password: string, cost: number, address: string): Promise<string>;
  /** Also compares with the hashes of `padding`, in the same job, whatever the first result. */
  compare(password: string, passwordHash: string, address: string, padding?: string[]): Promise<boolean>;
}

type Task =
  | { operation: 'hash'; password: string; cost: number }
  | { operation: 'compare'; password: string; passwordHash: string; padding: string[] };

interface Job {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

interface Thread {
  worker: Worker;
  job: Job | undefined;
}

interface Reply {
  result?: unknown;
  failure?: string;
}

const GONE = 'the password could not be checked: try again';

/**
 * Hashes passwords in a few threads of low priority, so that a storm of logins uses only idle processors. Addresses
 * take turns. When the queue holds a few seconds of work, it rejects the next password, or one of the address with the
 * longest queue. Passwords that have waited too long are rejected without being hashed.
 */
export class HashingPool implements Hashing {
  private readonly idle: Thread[] = [];
  private readonly threads = new Set<Thread>();
  private closed = false;

  constructor(private readonly queue: Queue) {}

  async hash(password: string, cost: number, address: string): Promise<string> {
    return String(await this.enqueue({ operation: 'hash', password, cost }, address));
  }

  async compare(password: string, passwordHash: string, address: string, padding: string[] = []): Promise<boolean> {
    return (await this.enqueue({ operation: 'compare', password, passwordHash, padding }, address)) === true;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.queue.refuseAll();
    await Promise.all([...this.threads].map(({ worker }) => worker.terminate()));
  }

  private enqueue(task: Task, address: string): Promise<unknown> {
    return this.queue.run(address, () => this.hashed(task));
  }

  private hashed(task: Task): Promise<unknown> {
    if (this.closed) throw new Unavailable('overloaded', GONE);
    const thread = this.idle.pop() ?? this.startThread();
    return new Promise((resolve, reject) => {
      thread.job = { resolve, reject };
      thread.worker.postMessage(task);
    });
  }

  /** Starts a thread on demand, also after one has died. */
  private startThread(): Thread {
    const worker = new Worker(join(__dirname, 'hashing-worker.cjs'));
    worker.unref();
    const thread: Thread = { worker, job: undefined };
    this.threads.add(thread);
    worker.on('message', ({ result, failure }: Reply) => {
      settle(thread, failure === undefined ? undefined : new Error(failure), result);
      this.idle.push(thread);
    });
    worker.on('error', (error) => settle(thread, error));
    worker.on('exit', () => {
      this.threads.delete(thread);
      const index = this.idle.indexOf(thread);
      if (index >= 0) this.idle.splice(index, 1);
      settle(thread, new Unavailable('overloaded', GONE));
    });
    return thread;
  }
}

function settle(thread: Thread, error: Error | undefined, result?: unknown): void {
  const { job } = thread;
  thread.job = undefined;
  if (error) job?.reject(error);
  else job?.resolve(result);
}
