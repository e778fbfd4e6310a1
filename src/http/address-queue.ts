import { Turns } from '../database/turns';
import { Unavailable } from '../errors';
import { senderOf, sharesOf, type NetworkShare } from './client-address';

export interface QueueSizes {
  atOnce: number;
  /** Of these, how many an address may take; a /48 of IPv6 twice as many. All, unless given. */
  share?: number;
  /** Whoever has nothing running comes before whoever has. Jobs may be called off for it, and have to end then. */
  newcomersFirst?: boolean;
  mostWaiting: number;
  waitMs: number;
}

interface Place {
  sender: string;
  shares: NetworkShare[];
  /** Calls its job off. */
  ending: AbortController;
}

interface Waiting {
  place: Place;
  start: () => void;
  refuse: () => void;
  timer: NodeJS.Timeout;
}

const overload = () => new Unavailable('overloaded', 'too many requests at once: try again shortly');

/**
 * Runs so many jobs at once. Those that wait take turns by address. Of those that are too many, the newest one of
 * whoever has most waiting is refused; so is what has waited for too long.
 *
 * With `newcomersFirst`, whoever has nothing running gets the next place that becomes free. When all are taken, the
 * oldest job of whoever has most running is called off for it, unless each sender has one.
 */
export class AddressQueue {
  private readonly waiting = new Turns<Waiting>();
  /** The oldest first. */
  private readonly running = new Set<Place>();

  constructor(
    private readonly sizes: QueueSizes,
    private readonly refusal: () => Error = overload,
  ) {}

  async run<T>(address: string, job: (ending: AbortController) => Promise<T>): Promise<T> {
    const { share } = this.sizes;
    const shares = share === undefined ? [] : sharesOf(address, share);
    const place = { sender: senderOf(address), shares, ending: new AbortController() };
    if (this.sizes.newcomersFirst && this.isFull() && this.isNew(place)) this.callOneOff();
    if (this.hasPlaceFor(place)) this.running.add(place);
    else await this.wait(place);
    try {
      return await job(place.ending);
    } finally {
      this.leave(place);
    }
  }

  /** What waits is refused. */
  refuseAll(): void {
    for (let job = this.waiting.shift(); job; job = this.waiting.shift()) job.refuse();
  }

  private wait(place: Place): Promise<void> {
    const { sender } = place;
    if (this.waiting.size >= this.sizes.mostWaiting) this.makeRoomFor(sender);
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        place,
        start: () => {
          clearTimeout(waiting.timer);
          this.running.add(place);
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

  private isFull(): boolean {
    return this.running.size >= this.sizes.atOnce;
  }

  private hasPlaceFor({ shares }: Place): boolean {
    return !this.isFull() && shares.every(({ network, most }) => this.takenOf(network) < most);
  }

  private isNew({ sender }: Place): boolean {
    return this.runningOf(sender) === 0;
  }

  private callOneOff(): void {
    const places = [...this.running];
    const most = Math.max(...places.map(({ sender }) => this.runningOf(sender)));
    const oldest = places.find(({ sender }) => this.runningOf(sender) === most);
    if (oldest === undefined || most === 1) return;
    this.running.delete(oldest);
    oldest.ending.abort();
  }

  /** The place goes to one that waits: no more than one can have waited for it. */
  private leave(place: Place): void {
    this.running.delete(place);
    const mayGo = (waiting: Waiting) => this.hasPlaceFor(waiting.place);
    const mayGoFirst = (waiting: Waiting) => this.isNew(waiting.place) && mayGo(waiting);
    const newcomer = this.sizes.newcomersFirst ? this.waiting.shift(mayGoFirst) : undefined;
    (newcomer ?? this.waiting.shift(mayGo))?.start();
  }

  private runningOf(sender: string): number {
    return this.count((place) => place.sender === sender);
  }

  private takenOf(network: string): number {
    return this.count(({ shares }) => shares.some((share) => share.network === network));
  }

  private count(counts: (place: Place) => boolean): number {
    return [...this.running].filter(counts).length;
  }
}
