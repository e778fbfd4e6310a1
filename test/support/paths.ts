import { join } from 'node:path';

export const OUTPUTS = join(__dirname, '..', '..', '.test-output');

/** One a run, which Jest's workers have from their parent: two runs in one clone leave each other's alone. */
process.env.TEST_RUN ??= `run-${process.pid}`;

/** What a run leaves for a look afterwards: logs, and the secrets that must not be in them. */
export const OUTPUT = join(OUTPUTS, process.env.TEST_RUN);
