import { isNode } from './platform.ts';

interface Channel {
  onmessage: ((event: { data: unknown }) => void) | null;
  postMessage(message: unknown): void;
  close(): void;
}

/** The other tabs and workers of a site hear what one of them tells. Where the platform has no such channel nobody does. */
export class Tabs<Message> {
  #channel: Channel | undefined;

  constructor(name: string, hear: (message: Message) => void) {
    const { BroadcastChannel } = globalThis as unknown as { BroadcastChannel?: new (name: string) => Channel };
    // Node's would keep the process alive, and reaches threads alone.
    if (isNode() || BroadcastChannel === undefined) return;
    this.#channel = new BroadcastChannel(`user-account-service:${name}`);
    this.#channel.onmessage = ({ data }) => hear(data as Message);
  }

  tell(message: Message): void {
    this.#channel?.postMessage(message);
  }

  close(): void {
    this.#channel?.close();
    this.#channel = undefined;
  }
}
