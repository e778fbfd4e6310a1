import type { Caller } from '../../base/caller';
import { NotSignedIn } from '../../base/errors';
import type { Queues } from '../../load/queues';
import type { AuditTrail } from '../audit/audit-trail';
import type { SessionRow } from '../sessions/sessions-repository';
import type { SessionsService } from '../sessions/sessions-service';
import type { ExportRepository } from './export-repository';
import type { KeptPhone, KeptUser } from './export-schemas';

export interface Kept {
  user: KeptUser;
  phones: KeptPhone[];
  sessions: SessionRow[];
  /** What may be much: each with its name, a page at a time. */
  lists: AsyncIterable<[name: string, pages: AsyncIterable<object[]>]>;
}

/** Gives users what is kept of them: one page at a time for all together, and one export of a user. */
export class ExportService {
  constructor(
    private readonly kept: ExportRepository,
    private readonly sessions: SessionsService,
    private readonly audit: AuditTrail,
    private readonly queues: Pick<Queues, 'exports' | 'exportPages'>,
  ) {}

  /** It is noted first, so that it is in the export, and that who breaks it off is noted, too. */
  async of(session: { userId: string; sid: string }, caller: Caller): Promise<Kept> {
    const { userId } = session;
    const user = await this.kept.user(userId);
    if (!user) throw new NotSignedIn();
    await this.audit.noteUpToLimit({ event: 'data_exported', userId }, caller);
    const [phones, sessions] = [await this.kept.phones(userId), await this.sessions.of(session)];
    return { user, phones, sessions, lists: this.lists(userId) };
  }

  /** The place is taken when the first list is asked for, and free when no more are. */
  private async *lists(userId: string): AsyncGenerator<[string, AsyncIterable<object[]>]> {
    const leave = this.queues.exports.take(userId);
    try {
      yield ['images', this.inTurns(userId, this.kept.images(userId))];
      yield ['blacklist', this.inTurns(userId, this.kept.blacklist(userId))];
      yield ['friendships', this.inTurns(userId, this.kept.friendships(userId))];
      yield ['memberships', this.inTurns(userId, this.kept.memberships(userId))];
      yield ['securityEvents', this.inTurns(userId, this.kept.securityEvents(userId))];
    } finally {
      leave();
    }
  }

  private async *inTurns<Row>(userId: string, pages: AsyncGenerator<Row[]>): AsyncGenerator<Row[]> {
    for (;;) {
      const page = await this.queues.exportPages.run(userId, () => pages.next());
      if (page.done) return;
      yield page.value;
    }
  }
}
