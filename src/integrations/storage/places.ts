import { Unavailable } from '../../errors';
import { networksOf } from '../../http/client-address';

interface Place {
  /** The user or address, and the networks that the address is in; the widest comes last. */
  networks: string[];
  giveWay: ((reason: Error) => void) | undefined;
}

/** Of what an address may have: so that no network of IPv6, however many addresses it has, takes most places. */
const MOST_TIMES = 2;

/**
 * Places for work that takes room. A sender, which is a user or an address, has a few of them. When all are taken,
 * whoever has most gives the newest one up for a sender with fewer, so that a few senders never keep all others out.
 */
export class Places {
  /** The oldest first. */
  private readonly taken = new Set<Place>();

  constructor(
    private readonly perSender: number,
    private readonly most: number,
  ) {}

  /**
   * Returns what gives the place back; calling it again does nothing. `giveWay` breaks the work off for somebody else;
   * work without it keeps its place.
   */
  take(sender: string, giveWay?: (reason: Error) => void): () => void {
    const networks = networksOf(sender);
    if (networks.some(({ network, times }) => this.of(network) >= Math.min(times, MOST_TIMES) * this.perSender))
      throw tooMany();
    const place = { networks: networks.map(({ network }) => network), giveWay };
    if (this.taken.size >= this.most) this.makeRoomFor(place);
    this.taken.add(place);
    return () => void this.taken.delete(place);
  }

  private of(network: string): number {
    return [...this.taken].filter(({ networks }) => networks.includes(network)).length;
  }

  private makeRoomFor(newcomer: Place): void {
    const held = new Map<string, number>();
    for (const place of [...this.taken, newcomer]) held.set(senderOf(place), (held.get(senderOf(place)) ?? 0) + 1);
    let newest = newcomer;
    for (const place of this.taken) {
      const [more, most] = [held.get(senderOf(place)) ?? 0, held.get(senderOf(newest)) ?? 0];
      if (place.giveWay && (more > most || (more === most && newest !== newcomer))) newest = place;
    }
    if (newest === newcomer) throw tooMany();
    this.taken.delete(newest);
    newest.giveWay?.(tooMany());
  }
}

/** Of IPv6 a /48, the most that one customer has. */
function senderOf({ networks }: Place): string {
  return networks.at(-1) ?? '';
}

function tooMany(): Unavailable {
  return new Unavailable('too many uploads at once: try again shortly');
}
