import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Unavailable } from '../../errors';
import { AddressQueue } from '../../http/address-queue';

/** The part of bcrypt that is used, and the address that asks for it. */
export interface Hashing {
  hash(password: string, cost: number, address: string): Promise<string>;
  /** Also compares with the hashes of `padding`, in the same turn, whatever comes of the first. */
  compare(password: string, passwordHash: string, address: string, padding?: string[]): Promise<boolean>;
}

type Task =
  | { operation: 'hash'; password: string; cost: number }
  | { operation: 'compare'; password: string; passwordHash: string; padding: string[] };

interface Job {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

interface Reply {
  result?: unknown;
  failure?: string;
}

const GONE = 'the password could not be checked: try again';
const TOO_MANY = 'too many passwords are being checked: try again shortly';
/** Well below the deadline of a request: what is hashed after it helps nobody. */
const WAIT_MS = 3_000;

/**
 * Hashes passwords in a few threads of low priority, so that a storm of logins uses only idle processors. Addresses
 * take turns. When more passwords wait than a few seconds suffice for, the next is refused at once, or one of whoever
 * has most waiting; what has waited for too long is refused without being hashed.
 */
export class HashingPool implements Hashing {
  private readonly idle: Worker[] = [];
  private readonly workers = new Set<Worker>();
  private readonly underWay = new Map<Worker, Job>();
  private readonly queue: AddressQueue;
  private closed = false;

  constructor(threads: number, mostWaiting: number, waitMs = WAIT_MS) {
    this.queue = new AddressQueue(
      { atOnce: threads, mostWaiting, waitMs },
      () => new Unavailable('overloaded', TOO_MANY),
    );
  }

  async hash(password: string, cost: number, address: string): Promise<string> {
    return String(await this.run({ operation: 'hash', password, cost }, address));
  }

  async compare(password: string, passwordHash: string, address: string, padding: string[] = []): Promise<boolean> {
    return (await this.run({ operation: 'compare', password, passwordHash, padding }, address)) === true;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.queue.refuseAll();
    await Promise.all([...this.workers].map((worker) => worker.terminate()));
  }

  private run(task: Task, address: string): Promise<unknown> {
    return this.queue.run(address, () => this.hashed(task));
  }

  private hashed(task: Task): Promise<unknown> {
    if (this.closed) throw new Unavailable('overloaded', GONE);
    const worker = this.idle.pop() ?? this.startWorker();
    return new Promise((resolve, reject) => {
      this.underWay.set(worker, { resolve, reject });
      worker.postMessage(task);
    });
  }

  /** Starts threads as they are needed, also after one has died. */
  private startWorker(): Worker {
    const worker = new Worker(join(__dirname, 'hashing-worker.cjs'));
    worker.unref();
    this.workers.add(worker);
    worker.on('message', ({ result, failure }: Reply) => {
      this.settle(worker, failure === undefined ? undefined : new Error(failure), result);
      this.idle.push(worker);
    });
    worker.on('error', (error) => this.settle(worker, error));
    worker.on('exit', () => {
      this.workers.delete(worker);
      const place = this.idle.indexOf(worker);
      if (place >= 0) this.idle.splice(place, 1);
      this.settle(worker, new Unavailable('overloaded', GONE));
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
