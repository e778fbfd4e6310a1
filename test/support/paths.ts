import { join } from 'node:path';

/** What a run leaves for a look afterwards: logs, and the secrets that must not be in them. */
export const OUTPUT = join(__dirname, '..', '..', '.test-output');
