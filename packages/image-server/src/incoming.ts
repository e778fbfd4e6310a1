import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ageOf, namesIn, storageFailure } from './disk';
import { within } from './timeout';

/** Uploads under way of other instances are younger. */
const STALE_MS = 3_600_000;
/** What is still written when its time is over is not waited for. */
const PATIENCE_MS = 4_000;

/** The folder of files that are under way, each of which somebody removes again, whatever comes of it. */
export class Incoming {
  private readonly paths = new Set<string>();
  private whenEmpty = () => {};

  constructor(private readonly directory: string) {}

  /** For a file or a folder that is not there yet. */
  async newPath(): Promise<string> {
    try {
      await mkdir(this.directory, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw storageFailure(error);
    }
    const path = join(this.directory, randomUUID());
    this.paths.add(path);
    return path;
  }

  async discard(path: string): Promise<void> {
    await rm(path, { recursive: true, force: true });
    this.paths.delete(path);
    if (this.paths.size === 0) this.whenEmpty();
  }

  /** Deletes what a process left that was killed. */
  async sweep(): Promise<void> {
    for (const name of await namesIn(this.directory)) {
      const path = join(this.directory, name);
      if (!this.paths.has(path) && (await ageOf(path)) > STALE_MS) await rm(path, { recursive: true, force: true });
    }
  }

  /** Before the process ends, and after its connections: those who wrote the files are about to remove them. */
  async close(): Promise<void> {
    const empty = new Promise<void>((resolve) => (this.whenEmpty = resolve));
    if (this.paths.size > 0) await within(PATIENCE_MS, empty).catch(() => undefined);
    for (const path of this.paths) await this.discard(path);
  }
}
