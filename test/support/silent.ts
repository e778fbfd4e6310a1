import { createLogger } from '../../src/base/logger';

/** Logs nothing. All tests share it, since each logger of its own adds a listener to the process. */
export const silent = createLogger('silent', { write: () => undefined });
