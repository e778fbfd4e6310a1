import type { Caller } from '../../base/caller';
import { NotSignedIn } from '../../base/errors';
import type { Queues } from '../../load/queues';
import type { AuditTrail } from '../audit/audit-trail';
import type { SessionsService } from '../sessions/sessions-service';
import type { ExportRepository } from './export-repository';

/** Gives users what is kept of them: one page at a time for all together. */
export class ExportService {
  constructor(
    private readonly kept: ExportRepository,
    private readonly sessions: SessionsService,
    private readonly audit: AuditTrail,
    private readonly queues: Pick<Queues, 'exportPages'>,
  ) {}

  /** It is noted first, so that it is in the export, and that who breaks it off is noted, too. */
  async of(session: { userId: string; sid: string }, caller: Caller) {
    const { userId } = session;
    const user = await this.kept.user(userId);
    if (!user) throw new NotSignedIn();
    await this.audit.noteUpToLimit({ event: 'data_exported', userId }, caller);
    const { images, blacklist, friendships, memberships, securityEvents } = this.kept.lists(userId);
    return {
      user,
      phones: await this.kept.phones(userId),
      sessions: await this.sessions.of(session),
      images: this.inTurns(userId, images),
      blacklist: this.inTurns(userId, blacklist),
      friendships: this.inTurns(userId, friendships),
      memberships: this.inTurns(userId, memberships),
      securityEvents: this.inTurns(userId, securityEvents),
    };
  }

  private async *inTurns<Row>(userId: string, pages: AsyncGenerator<Row[]>): AsyncGenerator<Row[]> {
    for (;;) {
      const page = await this.queues.exportPages.run(userId, () => pages.next());
      if (page.done) return;
      yield page.value;
    }
  }
}
