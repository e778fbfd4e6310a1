import type { Message, Sender } from './sender';

export interface KeptMessage extends Message {
  at: Date;
}

/** Number of messages kept. Older ones are dropped. */
const MOST = 100;

/** Keeps messages for developers, only in the memory of this process. */
export class Inbox {
  private sent: KeptMessage[] = [];

  /** Returns a sender that also keeps the messages. */
  of(sender: Sender): Sender {
    return {
      send: async (message) => {
        await sender.send(message);
        this.sent = [{ ...message, at: new Date() }, ...this.sent].slice(0, MOST);
      },
    };
  }

  newestFirst(): readonly KeptMessage[] {
    return this.sent;
  }
}
