import type { Caller } from '../../base/caller';
import { NotSignedIn } from '../../base/errors';
import type { Queues } from '../../load/queues';
import type { AuditTrail } from '../audit/audit-trail';
import type { SessionsService } from '../sessions/sessions-service';
import type { ExportRepository } from './export-repository';
import type { NumberClaimsRepository } from './number-claims-repository';

interface OwnSession {
  userId: string;
  sid: string;
  credentialsVersion: number;
}

/** Exports the stored data of users, one page at a time for all users together. */
export class ExportService {
  constructor(
    private readonly kept: ExportRepository,
    private readonly claims: NumberClaimsRepository,
    private readonly sessions: SessionsService,
    private readonly audit: AuditTrail,
    private readonly queues: Pick<Queues, 'exportPages'>,
  ) {}

  /** Returns the data. Notes the event first, so that the export contains it, and aborted exports are noted too. */
  async collect(session: OwnSession, caller: Caller) {
    const { userId, credentialsVersion } = session;
    const user = await this.kept.user(userId);
    if (!user) throw new NotSignedIn();
    await this.audit.noteUpToLimit({ event: 'data_exported', userId }, caller);
    const sessions = await this.sessions.list(session);
    const own = sessions.find(({ isCurrent }) => isCurrent);
    if (!own) throw new NotSignedIn();
    const { images, blacklist, friendships, memberships, securityEvents } = this.kept.lists(
      userId,
      // Without the password, only its own place: the number may have another owner by now.
      own.byToken ? own.ip : undefined,
    );
    return {
      user,
      phones: await this.kept.phones(userId),
      numberClaims: await this.claims.ofAccount({ id: userId, credentialsVersion }),
      sessions,
      images: this.queued(userId, images),
      blacklist: this.queued(userId, blacklist),
      friendships: this.queued(userId, friendships),
      memberships: this.queued(userId, memberships),
      securityEvents: this.queued(userId, securityEvents),
    };
  }

  private async *queued<Row>(userId: string, pages: AsyncGenerator<Row[]>): AsyncGenerator<Row[]> {
    for (;;) {
      const page = await this.queues.exportPages.run(userId, () => pages.next());
      if (page.done) return;
      yield page.value;
    }
  }
}
