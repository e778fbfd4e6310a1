import type { Logger } from 'pino';
import type { Caller } from '../../base/caller';
import { PAGE, pagesOf } from '../../database/pages';
import type { Transaction } from '../../database/transaction';
import type { Background } from '../../load/background';
import type { SecurityEventsRepository } from '../audit/security-events-repository';
import type { DismissalsRepository } from '../groups/dismissals-repository';
import { LISTS, type ClosingsRepository, type Ended } from './closings-repository';

type Ending = Transaction<{
  closings: ClosingsRepository;
  dismissals: DismissalsRepository;
  securityEvents: SecurityEventsRepository;
}>;

interface Deps {
  closings: ClosingsRepository;
  transaction: Ending;
  /** For what the usual time limits end. A long statement holds back the syncs of all users. */
  slowTransaction: Ending;
  background: Background;
  logger: Pick<Logger, 'warn'>;
}

const LATER = 'the remaining rows of a closed account will be ended later';
/** Caller of the sweeper, which does not know the request that closed an account. */
const SWEEPER: Caller = { address: '', ip: '', userAgent: '', requestId: '' };

/**
 * Ends the blacklist, friendships and memberships of closed accounts. For a small account the closing request does it.
 * A large account's rows follow in chunks, so that no statement is long. The sweeper ends rows that a killed process or a
 * slow statement left, and rows of accounts that another service closed.
 */
export class ClosingsService {
  constructor(private readonly deps: Deps) {}

  async end(userId: string, caller: Caller): Promise<void> {
    try {
      if (!(await this.endFirst(userId, caller))) this.deps.background.run(() => this.endAll(userId, caller), LATER);
    } catch (error) {
      this.deps.logger.warn({ err: error }, LATER);
    }
  }

  async sweep(): Promise<void> {
    const { closings, slowTransaction, logger } = this.deps;
    const unfinished = (after: string) => closings.unfinished(after);
    for await (const page of pagesOf(PAGE, unfinished, ({ id }) => id))
      for (const { id } of page)
        // If the rows of one account cannot be ended now, the others still are.
        await this.endAll(id, SWEEPER, slowTransaction).catch((error: unknown) => logger.warn({ err: error }, LATER));
  }

  /** Ends a chunk of each list. Returns true when these were all rows. */
  private async endFirst(userId: string, caller: Caller): Promise<boolean> {
    let isAll = true;
    for (const chunk of this.chunks(userId, caller, this.deps.transaction))
      isAll = (await chunk('')).length < PAGE && isAll;
    if (isAll) await this.deps.closings.forget(userId);
    return isAll;
  }

  private async endAll(userId: string, caller: Caller, transaction = this.deps.transaction): Promise<void> {
    for (const chunk of this.chunks(userId, caller, transaction))
      for await (const page of pagesOf(PAGE, chunk, ({ id }) => id)) void page;
    await this.deps.closings.forget(userId);
  }

  /** Returns functions, each of which ends a page of one list and returns it. */
  private chunks(userId: string, caller: Caller, transaction: Ending): ((after: string) => Promise<Ended[]>)[] {
    const leave = (after: string) =>
      transaction(async ({ dismissals, securityEvents }) => {
        const { left, dismissed } = await dismissals.leavePage(userId, after);
        for (const groupId of dismissed)
          await securityEvents.add({ event: 'group_dismissed', userId, detail: groupId }, caller);
        return left;
      });
    const ends = LISTS.map(
      (list) => (after: string) => transaction(({ closings }) => closings.end(list, userId, after)),
    );
    return [...ends, leave];
  }
}
