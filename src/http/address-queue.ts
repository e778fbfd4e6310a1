import { Turns } from '../database/turns';
import { Unavailable } from '../errors';
import { networksOf, senderOf } from './client-address';

export interface QueueSizes {
  atOnce: number;
  /** Of these, how many an address may take; a /48 of IPv6 twice as many. All, unless given. */
  share?: number;
  mostWaiting: number;
  waitMs: number;
}

interface Share {
  network: string;
  most: number;
}

interface Waiting {
  shares: Share[];
  start: () => void;
  refuse: () => void;
  timer: NodeJS.Timeout;
}

/** Of an address's share: so that no network of IPv6, however many addresses it has, takes all places. */
const MOST_TIMES = 2;

const overload = () => new Unavailable('too many requests at once: try again shortly');

/**
 * Runs so many jobs at once. Those that wait take turns by address. Of those that are too many, the newest one of
 * whoever has most waiting is refused; so is what has waited for too long.
 */
export class AddressQueue {
  private readonly waiting = new Turns<Waiting>();
  /** By network. */
  private readonly taken = new Map<string, number>();
  private running = 0;

  constructor(
    private readonly sizes: QueueSizes,
    private readonly refusal: () => Error = overload,
  ) {}

  async run<T>(address: string, job: () => Promise<T>): Promise<T> {
    const shares = this.sharesOf(address);
    if (this.hasPlaceFor(shares)) this.take(shares);
    else await this.wait(senderOf(address), shares);
    try {
      return await job();
    } finally {
      this.leave(shares);
    }
  }

  /** What waits is refused. */
  refuseAll(): void {
    for (let job = this.waiting.shift(); job; job = this.waiting.shift()) job.refuse();
  }

  private wait(sender: string, shares: Share[]): Promise<void> {
    if (this.waiting.size >= this.sizes.mostWaiting) this.makeRoomFor(sender);
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        shares,
        start: () => {
          clearTimeout(waiting.timer);
          this.take(shares);
          resolve();
        },
        refuse: () => {
          clearTimeout(waiting.timer);
          reject(this.refusal());
        },
        timer: setTimeout(() => {
          this.waiting.remove(sender, waiting);
          waiting.refuse();
        }, this.sizes.waitMs),
      };
      this.waiting.push(sender, waiting);
    });
  }

  private makeRoomFor(sender: string): void {
    const dropped = this.waiting.giveWayTo(sender);
    if (!dropped) throw this.refusal();
    dropped.refuse();
  }

  private sharesOf(address: string): Share[] {
    const { share } = this.sizes;
    if (share === undefined) return [];
    return networksOf(address).map(({ network, times }) => ({ network, most: Math.min(times, MOST_TIMES) * share }));
  }

  private hasPlaceFor(shares: Share[]): boolean {
    const isFree = ({ network, most }: Share) => this.takenOf(network) < most;
    return this.running < this.sizes.atOnce && shares.every(isFree);
  }

  private take(shares: Share[]): void {
    this.running += 1;
    for (const { network } of shares) this.taken.set(network, this.takenOf(network) + 1);
  }

  /** The place goes to one that waits: no more than one can have waited for it. */
  private leave(shares: Share[]): void {
    this.running -= 1;
    for (const { network } of shares) {
      const left = this.takenOf(network) - 1;
      if (left > 0) this.taken.set(network, left);
      else this.taken.delete(network);
    }
    this.waiting.shift((job) => this.hasPlaceFor(job.shares))?.start();
  }

  private takenOf(network: string): number {
    return this.taken.get(network) ?? 0;
  }
}
