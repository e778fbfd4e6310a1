import { Unavailable } from '../../errors';
import { senderOf, sharesOf } from '../../http/client-address';

interface Place {
  sender: string;
  /** The user or address, and the networks that the address is in. */
  networks: string[];
  giveWay: ((reason: Error) => void) | undefined;
}

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
    const shares = sharesOf(sender, this.perSender);
    if (shares.some(({ network, most }) => this.of(network) >= most)) throw tooMany();
    const place = { sender: senderOf(sender), networks: shares.map(({ network }) => network), giveWay };
    if (this.taken.size >= this.most) this.makeRoomFor(place);
    this.taken.add(place);
    return () => void this.taken.delete(place);
  }

  private of(network: string): number {
    return [...this.taken].filter(({ networks }) => networks.includes(network)).length;
  }

  private makeRoomFor(newcomer: Place): void {
    const held = new Map<string, number>();
    for (const { sender } of [...this.taken, newcomer]) held.set(sender, (held.get(sender) ?? 0) + 1);
    let newest = newcomer;
    for (const place of this.taken) {
      const [more, most] = [held.get(place.sender) ?? 0, held.get(newest.sender) ?? 0];
      if (place.giveWay && (more > most || (more === most && newest !== newcomer))) newest = place;
    }
    if (newest === newcomer) throw tooMany();
    this.taken.delete(newest);
    newest.giveWay?.(tooMany());
  }
}

function tooMany(): Unavailable {
  return new Unavailable('uploads_busy', 'too many uploads at once: try again shortly');
}
