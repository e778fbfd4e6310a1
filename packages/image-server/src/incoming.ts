import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ageOf, namesIn, storageFailure } from './disk';
import { within } from './timeout';

/** Age of an abandoned file. Files that other instances are still writing are younger. */
const STALE_MS = 3_600_000;
/** Longest wait for files that are still being written when the process ends. */
const PATIENCE_MS = 4_000;

/** The folder of unfinished files. The code that asks for a path discards it again, on success and on failure. */
export class Incoming {
  private readonly paths = new Set<string>();
  private whenEmpty = () => {};

  constructor(private readonly directory: string) {}

  /** Returns the path for a new file or folder. */
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

  /** Deletes files that a killed process left. */
  async sweep(): Promise<void> {
    for (const name of await namesIn(this.directory)) {
      const path = join(this.directory, name);
      if (!this.paths.has(path) && (await ageOf(path)) > STALE_MS) await rm(path, { recursive: true, force: true });
    }
  }

  /** Waits until the writers of the files discard them, then discards the rest. Close all connections before. */
  async close(): Promise<void> {
    const empty = new Promise<void>((resolve) => (this.whenEmpty = resolve));
    if (this.paths.size > 0) await within(PATIENCE_MS, empty).catch(() => undefined);
    for (const path of this.paths) await this.discard(path);
  }
}
