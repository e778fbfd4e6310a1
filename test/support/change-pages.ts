import type { TestApp } from './app';
import type { Person } from './people';
import { cookieFor } from './streams';
import { until } from './until';

/** A page of a browser that hears of changes. */
export interface ChangePage {
  answer: Response;
  /** The versions that it was told. */
  versions: number[];
  /** The names of other events that it was told. */
  named: string[];
  stop: AbortController;
  hasEnded: () => boolean;
}

/** Returns a function that opens pages as a browser does. They are closed after each test. */
export function changePages(app: () => TestApp): (person: Person, on?: TestApp) => Promise<ChangePage> {
  const open: AbortController[] = [];
  afterEach(async () => {
    for (const stop of open.splice(0)) stop.abort();
    await until(() => app().liveSyncs() === 0);
  });
  return async (person, on = app()) => {
    const stop = new AbortController();
    open.push(stop);
    const headers = await cookieFor(on, person);
    const answer = await fetch(`${on.url}/user/changes`, { headers, signal: stop.signal });
    const versions: number[] = [];
    const named: string[] = [];
    let hasEnded = false;
    const read = async () => {
      let text = '';
      for await (const part of answer.body ?? []) {
        text += Buffer.from(part as Uint8Array).toString();
        named.splice(0, Infinity, ...[...text.matchAll(/^event: (\w+)$/gm)].map(([, name = '']) => name));
        const told = [...text.matchAll(/^data: \{"version":(\d+)\}$/gm)];
        versions.splice(0, Infinity, ...told.map(([, one]) => Number(one)));
      }
    };
    void read()
      .catch(() => undefined)
      .finally(() => (hasEnded = true));
    return { answer, versions, named, stop, hasEnded: () => hasEnded };
  };
}
