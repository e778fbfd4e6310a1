import { SharedCalls } from '../../../load/shared-calls';
import type { Asker, MessagingProvider, MessagingUser } from '../messaging-provider';
import { RongCloudRefusal, type RongCloudApi } from './api';

/** A token, and the profile that was last sent to RongCloud. */
export interface KeptToken {
  token: string;
  nickname: string;
  portraitUri: string;
}

/** Stored state for an asker. A round lasts until the user's tokens end. */
export interface FoundToken {
  round: number;
  kept: KeptToken | undefined;
}

/** Stores tokens, so that only a user's first login calls RongCloud. Clients only get stored tokens. */
export interface KeptTokens {
  /** Returns undefined if the asker's session or password is no longer valid. */
  find(userId: string, app: string, asker: Asker): Promise<FoundToken | undefined>;
  get(userId: string, app: string): Promise<KeptToken | undefined>;
  /**
   * Returns false if the round has ended, or another token is stored already. Has the profile told again if the one that
   * came with the token may not be the newest.
   */
  add(userId: string, app: string, round: number, kept: KeptToken): Promise<boolean>;
  /** Stores the profile of this token, if the token is still stored. */
  refresh(userId: string, app: string, kept: KeptToken): Promise<void>;
  /** Has the profile told again soon, as it is then. */
  noteProfile(userId: string): Promise<void>;
}

/** Maximum tries. One fails only if the user's tokens end, or another is stored, during the call to RongCloud. */
const TRIES = 5;
const BAD_REQUEST = 400;

/**
 * Tokens of RongCloud. They must not expire (the default of the app's console), since a stored token is reused without
 * asking RongCloud.
 */
export class RongCloudMessagingProvider implements MessagingProvider {
  /** Calls in progress, shared since RongCloud counts and charges each. Each asker has a right to the round's token. */
  private readonly newTokens = new SharedCalls<string | undefined>();

  constructor(
    private readonly api: RongCloudApi,
    private readonly keptTokens: KeptTokens,
  ) {}

  async token(user: MessagingUser, asker: Asker): Promise<string | undefined> {
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const found = await this.keptTokens.find(user.id, this.api.app, asker);
      if (found === undefined) return undefined;
      const { round, kept } = found;
      // A request must not send a profile itself: it may have read it before the newest one was sent.
      if (kept && !sameProfile(kept, user)) await this.keptTokens.noteProfile(user.id);
      const token = kept
        ? kept.token
        : await this.newTokens.run(`${user.id} ${round}`, () => this.newToken(user, round));
      if (token !== undefined) return token;
    }
    throw new Error('RongCloud: the tokens of a user end faster than new ones are made');
  }

  /**
   * Sends a changed profile, also the one that was sent last: a late request for a token may have brought another one since.
   * Skips users without a token: RongCloud learns the profile with the first token.
   */
  async profileChanged(user: MessagingUser): Promise<void> {
    const kept = await this.keptTokens.get(user.id, this.api.app);
    if (kept === undefined) return;
    await this.api.call('/user/refresh.json', profileForm(user));
    const { id, nickname, portraitUri } = user;
    await this.keptTokens.refresh(id, this.api.app, { token: kept.token, nickname, portraitUri });
  }

  /** Empties the profile. RongCloud refuses this for users who had no token. */
  async accountClosed(userId: string): Promise<void> {
    try {
      await this.api.call('/user/refresh.json', profileForm({ id: userId, nickname: '', portraitUri: '' }));
    } catch (error) {
      if (!(error instanceof RongCloudRefusal && error.status === BAD_REQUEST)) throw error;
    }
  }

  /** Returns undefined if the token is not stored. It need not be ended, since no client gets it. */
  private async newToken(user: MessagingUser, round: number): Promise<string | undefined> {
    const { token } = await this.api.call('/user/getToken.json', profileForm(user));
    if (token === undefined) throw new Error('RongCloud: /user/getToken.json gave no token');
    const { id, nickname, portraitUri } = user;
    const isKept = await this.keptTokens.add(id, this.api.app, round, { token, nickname, portraitUri });
    return isKept ? token : undefined;
  }
}

function sameProfile(kept: KeptToken, user: MessagingUser): boolean {
  return kept.nickname === user.nickname && kept.portraitUri === user.portraitUri;
}

/** RongCloud keeps what is left out. It names no other way to remove a portrait than an empty one, which SealTalk sends. */
function profileForm({ id, nickname, portraitUri }: MessagingUser): Record<string, string> {
  return { userId: id, name: nickname, portraitUri };
}
