import type { Knex } from 'knex';
import { holdInPlace } from '../../database/hold-in-place';
import type { OWNER } from '../../database/owner-reads';
import { columnList, NOTHING, statement, type Source } from '../../database/statement';
import { inSteps } from '../../database/transaction';
import { OWN_PHONE, type OwnPhone } from '../phones/phone-number';
import { PROFILE_COLUMNS, type Profile } from './profile';

/** A user with the data for a login. */
export interface Account extends Profile {
  /** Empty for an account without a password. */
  passwordHash: string;
  credentialsVersion: number;
  /** Whether an operator refuses its sessions and logins. */
  isSuspended: boolean;
  createdAt: Date;
}

const CREDENTIALS = {
  passwordHash: 'password_hash',
  credentialsVersion: 'credentials_version',
  isSuspended: 'suspended_at IS NOT NULL',
  createdAt: 'created_at',
};

/**
 * A look-up by phone takes two statements, this one and one by the user's id, so that phones and users could one day be
 * on different nodes.
 */
const phoneOwner = statement<{ userId: string }, 'phone'>(
  'phone-owner',
  'SELECT user_id AS "userId" FROM phones WHERE phone = :phone',
);

const profile = statement<Profile, 'id'>(
  'profile',
  `SELECT ${columnList(PROFILE_COLUMNS)} FROM users WHERE id = :id AND closed_at IS NULL`,
);

const profilesOf = statement<Profile, 'ids'>(
  'profiles',
  `SELECT ${columnList(PROFILE_COLUMNS)} FROM users WHERE id = ANY (:ids::text[]) AND closed_at IS NULL`,
);

/** The profile for a user who looked up the phone. The found user's side decides whether the finder is a friend. */
const profileFor = statement<Profile, 'id' | 'finderId'>(
  'profile-found',
  `SELECT ${columnList(PROFILE_COLUMNS)} FROM users
    WHERE id = :id AND closed_at IS NULL
      AND (is_findable OR id = :finderId
           OR EXISTS (SELECT FROM friendships WHERE user_id = :id AND friend_id = :finderId AND status = 20))`,
);

const account = statement<Account, 'id'>(
  'account',
  `SELECT ${columnList({ ...PROFILE_COLUMNS, ...CREDENTIALS })} FROM users WHERE id = :id AND closed_at IS NULL`,
);

/** On one server, triggers do it. */
const tellOfRename = statement<unknown, 'id'>('tell-of-rename', NOTHING, { distributed: 'SELECT user_renamed(:id)' });

/** A person who changes an account. */
export type Changer = 'owner' | 'operator';

/** Users and their phones. Does not find closed accounts. */
export class UsersRepository {
  constructor(
    private readonly db: Knex,
    /** Source for look-ups, which are frequent and small. */
    private readonly reads: Source = db,
  ) {}

  async profile(id: string | typeof OWNER, on = this.reads): Promise<Profile | undefined> {
    const [found] = await profile(on, { id });
    return found;
  }

  /** Returns profiles in any order. */
  async profiles(ids: string[], on = this.reads): Promise<Profile[]> {
    return profilesOf(on, { ids });
  }

  /** Returns undefined also for a user whom only friends may find, unless `finderId` is a friend. */
  async profileFor(finderId: string, id: string, on = this.reads): Promise<Profile | undefined> {
    const [found] = await profileFor(on, { id, finderId });
    return found;
  }

  async profileByPhone(phone: string): Promise<Profile | undefined> {
    const id = await this.idByPhone(phone);
    return id === undefined ? undefined : this.profile(id);
  }

  async idByPhone(phone: string, on = this.reads): Promise<string | undefined> {
    const [owner] = await phoneOwner(on, { phone });
    return owner?.userId;
  }

  async account(id: string): Promise<Account | undefined> {
    const [found] = await account(this.reads, { id });
    return found;
  }

  /** Also queries for a phone without an account, so that both cases take the same time. */
  async accountByPhone(phone: string): Promise<Account | undefined> {
    return this.account((await this.idByPhone(phone)) ?? '');
  }

  /** Reads on the pool: anybody can ask this, and must not delay reads of users. */
  async isPhoneTaken(phone: string): Promise<boolean> {
    return (await this.idByPhone(phone, this.db)) !== undefined;
  }

  async phonesOf(id: string): Promise<OwnPhone[]> {
    return this.db('phones').where({ user_id: id }).select<OwnPhone[]>(OWN_PHONE);
  }

  /** Returns those of the phones that belong to an account, and were proved by a code that was sent. */
  async provedPhones(numbers: string[]): Promise<string[]> {
    return this.db('phones').whereIn('phone', numbers).where({ is_test: false }).pluck('phone');
  }

  /** Returns false when the phone already belongs to an account, however many requests try at once. */
  async claimPhone({ number, region, language, isTest }: OwnPhone, userId: string): Promise<boolean> {
    const claimed = await this.db('phones')
      .insert({ phone: number, region, user_id: userId, language, is_test: isTest })
      .onConflict('phone')
      .ignore()
      .returning('phone');
    return claimed.length > 0;
  }

  async create(user: { id: string; nickname: string; passwordHash: string }): Promise<void> {
    await this.db('users').insert({ id: user.id, nickname: user.nickname, password_hash: user.passwordHash });
  }

  async updateProfile(id: string, changes: Partial<Omit<Profile, 'id'>>): Promise<Profile | undefined> {
    const row = Object.fromEntries(
      Object.entries(changes).map(([field, value]) => [PROFILE_COLUMNS[field as keyof Profile], value]),
    );
    return inSteps(this.db, async (db) => {
      const [profile]: Profile[] = await open(db, id)
        .update(row)
        .returning(db.raw(columnList(PROFILE_COLUMNS)));
      if (profile) await tellOfRename(db, { id });
      return profile;
    });
  }

  /** Returns false when the account is closed. */
  async setFindable(id: string, isFindable: boolean): Promise<boolean> {
    return (await this.open(id).update({ is_findable: isFindable })) > 0;
  }

  /** Returns false when the password has changed since `credentialsVersion` was read, or the account was suspended. */
  async changePassword(id: string, credentialsVersion: number, passwordHash: string): Promise<boolean> {
    return (await this.unchanged(id, credentialsVersion).update(this.newPassword(passwordHash))) > 0;
  }

  /** Returns false when the account is closed. */
  async resetPassword(id: string, passwordHash: string): Promise<boolean> {
    return (await this.open(id).update(this.newPassword(passwordHash))) > 0;
  }

  /** Locks a user until the transaction ends. Returns false when a change by its owner or an operator is refused. */
  async lock(id: string, credentialsVersion: number, by?: Changer): Promise<boolean> {
    await holdInPlace(this.db, { key: id });
    const owner: unknown = await this.unchanged(id, credentialsVersion, by).forNoKeyUpdate().first('id');
    return owner !== undefined;
  }

  /** Ends sessions, as a new password does, but keeps the password. Returns false when `lock` would. */
  async renewCredentials(id: string, credentialsVersion: number, by?: Changer): Promise<boolean> {
    return (await this.unchanged(id, credentialsVersion, by).update(this.newCredentials())) > 0;
  }

  /** Closes an account. Keeps the row, since others may have to be told of the account's rows. */
  async close(id: string): Promise<void> {
    const emptied = { nickname: '', portrait_uri: '', password_hash: '' };
    await this.open(id).update({ ...emptied, closed_at: this.db.fn.now(), ...this.newCredentials() });
  }

  /** Returns false when the account is suspended already, or closed. */
  async suspend(id: string): Promise<boolean> {
    return (await this.open(id).where({ suspended_at: null }).update({ suspended_at: this.db.fn.now() })) > 0;
  }

  /** Returns false when the account is not suspended, or closed. */
  async restore(id: string): Promise<boolean> {
    return (await this.open(id).whereNot({ suspended_at: null }).update({ suspended_at: null })) > 0;
  }

  async releasePhones(id: string, ...but: string[]): Promise<void> {
    await this.db('phones').where({ user_id: id }).whereNotIn('phone', but).delete();
  }

  /** Stores a hash of the same password at another cost. Its sessions stay. */
  async rehash(id: string, credentialsVersion: number, passwordHash: string): Promise<void> {
    await this.unchanged(id, credentialsVersion).update({ password_hash: passwordHash });
  }

  /** Returns columns that also end sessions and pending messaging tokens. */
  private newPassword(passwordHash: string): Record<string, Knex.Value | Knex.Raw> {
    return { password_hash: passwordHash, ...this.newCredentials() };
  }

  private newCredentials(): Record<string, Knex.Raw> {
    const next = (counter: string) => this.db.raw('?? + 1', [counter]);
    return { credentials_version: next('credentials_version'), messaging_round: next('messaging_round') };
  }

  private open(id: string): Knex.QueryBuilder {
    return open(this.db, id);
  }

  /** Finds the user while the password is the one of this version and, for its owner, the account is not suspended. */
  private unchanged(id: string, credentialsVersion: number, by: Changer = 'owner'): Knex.QueryBuilder {
    const found = this.open(id).where({ credentials_version: credentialsVersion });
    return by === 'owner' ? found.where({ suspended_at: null }) : found;
  }
}

function open(db: Knex, id: string): Knex.QueryBuilder {
  return db('users').where({ id, closed_at: null });
}
