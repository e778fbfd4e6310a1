import { otherServers } from './database';

/** For tests of what only one PostgreSQL has: its lives, its plans, and triggers that reach rows of other users. */
export const describeOnOneServer = otherServers().length > 0 ? describe.skip : describe;
export const itOnOneServer = otherServers().length > 0 ? it.skip : it;

/** For tests of a Citus, which npm run distributed-test runs. */
export const describeOnSeveralServers = otherServers().length > 0 ? describe : describe.skip;
