import { isDeepStrictEqual } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { isFailure } from '../faults/judge';
import { Person } from '../faults/person';
import type { Way } from './way';

const PEOPLE = 8;
const PAUSE_MS = 40;
/** Enough requests to notice one failure in a thousand. */
const LEAST = 5_000;

/** People who use all operations in turn, and remember what they were promised. */
export class Crowd {
  private readonly people: Person[] = [];
  private isRunning = false;
  private going: Promise<unknown> = Promise.resolve();

  private constructor(private readonly way: Way) {}

  static async gather(way: Way): Promise<Crowd> {
    const crowd = new Crowd(way);
    for (let count = 0; count < PEOPLE; count += 1) {
      const person = new Person(way.calls, way.inbox, () => crowd.people);
      if (!(await person.arrive())) throw new Error(`registration failed: ${crowd.failures() || 'no code'}`);
      crowd.people.push(person);
    }
    return crowd;
  }

  /** Sends requests while `thing` runs, and until there were enough of them; returns how they ended. */
  async runDuring(thing: () => Promise<void>, least = LEAST): Promise<string> {
    this.way.calls.made.length = 0;
    this.isRunning = true;
    this.going = Promise.all(this.people.map((person) => this.keep(person)));
    try {
      await thing();
      while (this.way.calls.made.length < least) await sleep(200);
    } finally {
      this.isRunning = false;
      await this.going;
    }
    const { made } = this.way.calls;
    const failed = made.filter(({ kind }) => isFailure(kind)).length;
    const longest = (Math.max(...made.map(({ ms }) => ms)) / 1_000).toFixed(1);
    const told = `${failed} of ${made.length} requests failed, the longest took ${longest} s`;
    if (failed > 0) throw new Error(`${told}: ${this.failures()}`);
    const lost = await this.lost();
    if (lost.length > 0) throw new Error(`${told}, but promises were broken: ${lost.join('; ')}`);
    return `${told}, nothing lost`;
  }

  /** Returns what a person was promised and does not find. */
  async lost(): Promise<string[]> {
    const found: string[] = [];
    for (const person of this.people) {
      found.push(...person.broken);
      if (!(await person.synchronise())) found.push(`${person.id} cannot synchronise`);
      const [held, full] = [person.client.state(), (await person.everything()).state()];
      if (!isDeepStrictEqual(held, full)) found.push(`the client of ${person.id} has diverged`);
      if (!person.nicknames.has(full.user?.nickname ?? '')) found.push(`nickname of ${person.id}`);
      if (!person.portraits.has(full.user?.portraitUri ?? '')) found.push(`portrait of ${person.id}`);
      for (const key of person.images) {
        const { status } = await this.way.calls.call(`/files/${key}`, 'files', { method: 'GET' });
        if (status !== 200) found.push(`image ${key}`);
      }
    }
    return found;
  }

  /** Formats failures, such as `login 503 × 2`. */
  private failures(): string {
    const counts = new Map<string, number>();
    for (const { operation, kind } of this.way.calls.made)
      if (isFailure(kind)) counts.set(`${operation} ${kind}`, (counts.get(`${operation} ${kind}`) ?? 0) + 1);
    return [...counts].map(([what, count]) => `${what} × ${count}`).join(', ');
  }

  private async keep(person: Person): Promise<void> {
    while (this.isRunning) {
      await person.act();
      await sleep(PAUSE_MS * (0.5 + Math.random()));
    }
  }
}
