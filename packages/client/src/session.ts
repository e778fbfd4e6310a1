import { Tabs } from './tabs.ts';

export interface SessionEvent {
  event: 'began' | 'ended';
  /**
   * Another tab has logged in or out; or a call has found out that the session has begun before, or has ended on another
   * device or by its time.
   */
  elsewhere: boolean;
}

export type SessionListener = (event: SessionEvent) => void;

/** Whether somebody is signed in, as far as calls and other tabs have told. */
export class Session {
  isOn: boolean | undefined;
  readonly #listeners = new Set<SessionListener>();
  readonly #tabs: Tabs<SessionEvent['event']> | undefined;

  /** Other tabs have the same session where the platform keeps the cookies: `hear` is told of theirs. */
  constructor(sharedName: string | undefined, hear: (event: SessionEvent['event']) => void) {
    if (sharedName === undefined) return;
    this.#tabs = new Tabs(`session:${sharedName}`, (event) => {
      hear(event);
      this.#turn(event, true);
    });
  }

  onEvent(listener: SessionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** By this client. */
  began(): void {
    this.#tabs?.tell('began');
    this.#turn('began', false);
  }

  ended(): void {
    this.#tabs?.tell('ended');
    this.#turn('ended', false);
  }

  /** A call has found out. */
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
