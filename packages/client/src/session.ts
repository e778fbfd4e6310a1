import { Tabs } from './tabs.ts';

export interface SessionEvent {
  event: 'began' | 'ended';
  /**
   * Whether this client did not do it. Either another tab has logged in or out, or a call has noticed that the session
   * began before, or that it has expired or was ended on another device.
   */
  elsewhere: boolean;
}

export type SessionListener = (event: SessionEvent) => void;

/** Knows whether a user is signed in, from calls and other tabs. */
export class Session {
  isOn: boolean | undefined;
  readonly #listeners = new Set<SessionListener>();
  readonly #tabs: Tabs<SessionEvent['event']> | undefined;

  /** Tells `hear` about events of other tabs, which share the session if the platform keeps the cookies. */
  constructor(sharedName: string | undefined, hear: (event: SessionEvent['event']) => void) {
    if (sharedName === undefined) return;
    this.#tabs = new Tabs(`session:${sharedName}`, (event) => {
      hear(event);
      // A call may have noticed the end before.
      if (event === 'began' || this.isOn !== false) this.#turn(event, true);
    });
  }

  onEvent(listener: SessionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Records a login by this client. */
  began(): void {
    this.#tabs?.tell('began');
    this.#turn('began', false);
  }

  ended(): void {
    this.#tabs?.tell('ended');
    this.#turn('ended', false);
  }

  /** Records what a call has noticed. */
  found(isOn: boolean): void {
    if (this.isOn !== isOn) this.#turn(isOn ? 'began' : 'ended', true);
  }

  close(): void {
    this.#tabs?.close();
  }

  #turn(event: SessionEvent['event'], elsewhere: boolean): void {
    this.isOn = event === 'began';
    for (const listener of this.#listeners)
      void Promise.resolve({ event, elsewhere }).then(listener).catch(console.error);
  }
}
