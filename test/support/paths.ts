import { join } from 'node:path';

export const OUTPUTS = join(__dirname, '..', '..', '.test-output');

/** The name of a run, which Jest's workers inherit: two runs in one clone do not touch each other's files. */
process.env.TEST_RUN ??= `run-${process.pid}`;

/** The folder of a run's output: logs, and the secrets that must not be in them. */
export const OUTPUT = join(OUTPUTS, process.env.TEST_RUN);

/** Filters what is copied of the tree: a fetched Node is in scripts/node/node_modules. */
export function withoutPackages(path: string): boolean {
  return !path.endsWith('node_modules');
}
