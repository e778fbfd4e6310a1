import { isNode } from './platform.ts';

interface Channel {
  onmessage: ((event: { data: unknown }) => void) | null;
  postMessage(message: unknown): void;
  close(): void;
}

/** Sends messages to the other tabs and workers of a site. Does nothing if the platform has no such channel. */
export class Tabs<Message> {
  #channel: Channel | undefined;

  constructor(name: string, hear: (message: Message) => void) {
    const { BroadcastChannel } = globalThis as unknown as { BroadcastChannel?: new (name: string) => Channel };
    // Node's channel would keep the process alive, and reaches only threads.
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
