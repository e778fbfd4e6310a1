import { randomBytes, randomInt } from 'node:crypto';
import { Readable } from 'node:stream';
import { failure, type Answer as ClientAnswer } from '../../packages/client/src/answer.ts';
import { SyncStore } from '../../packages/client/src/index.ts';
import { FoldingClient, type SyncResult } from '../support/folding-client';
import { multipartForm, PNG } from '../support/images';
import type { Answer, Calls, Sent } from './calls';

/** The messages of a run. */
export interface Inbox {
  codeFor(phone: string): string | undefined | Promise<string | undefined>;
}

export interface Stranger {
  id: string;
  phone: number;
  /** Groups that the stranger has made. */
  groups: string[];
  /** People who have asked the stranger to be friends. */
  askers: string[];
}

type Thing = [weight: number, thing: () => Promise<unknown>];

interface Session {
  cookie: string;
  /** Whether it may have ended: by its own logout, or by a new password. */
  mayBeOver: boolean;
}

let phones = 7_400_000_000 + randomInt(50_000_000);

const newPassword = () => randomBytes(8).toString('hex');

/**
 * One user with an app, who makes calls in turn and remembers what was promised. After a 200 only one value is
 * possible; after any other answer that value and the earlier ones are.
 */
export class Person {
  readonly phone = (phones += 1);
  readonly nicknames = new Set<string>();
  readonly portraits = new Set<string>(['']);
  readonly passwords = new Set<string>();
  readonly blacklist = new Map<string, Set<boolean>>();
  readonly images: string[] = [];
  readonly groups: string[] = [];
  readonly askers: string[] = [];
  readonly client: FoldingClient;
  /** The store of packages/client, which must hold the same state. */
  readonly store = new SyncStore({ changesSince: (version) => this.changesSince(version) });
  readonly broken: string[] = [];
  id = '';
  /** Whether the account exists: 'maybe' after a missing answer. */
  registered: 'yes' | 'no' | 'maybe' = 'no';
  private sessions: Session[] = [];
  private count = 0;
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly calls: Calls,
    private readonly inbox: Inbox,
    private readonly others: () => Stranger[],
  ) {
    this.client = new FoldingClient((version) => this.ask(version));
  }

  get address(): { region: number; phone: number } {
    return { region: 44, phone: this.phone };
  }

  get cookies(): string[] {
    return this.sessions.filter(({ mayBeOver }) => !mayBeOver).map(({ cookie }) => cookie);
  }

  /** Creates an account with a session for a new phone; returns whether all calls succeeded. */
  async arrive(): Promise<boolean> {
    const token = await this.verify();
    if (token === undefined) return false;
    const [nickname, password] = [`New ${this.phone}`, newPassword()];
    const answer = await this.post('register', { nickname, password, verification_token: token });
    this.nicknames.add(nickname);
    this.passwords.add(password);
    if (answer.code === 200) {
      this.id = String(field(answer.result, 'id'));
      this.registered = 'yes';
      return this.logIn();
    }
    if (answer.code !== 404) this.registered = 'maybe';
    return false;
  }

  /** Does one thing that people do, chosen at random; most of them only read. */
  act(): Promise<void> {
    return this.inTurn(() => this.doSomething());
  }

  /** Does one thing with friends or groups, which may be refused: another person may have been faster. */
  actInCircle(): Promise<void> {
    const [other, name] = [this.stranger(), `Group ${(this.count += 1)}`];
    const [theirs, own] = [oneOf(other.groups), oneOf(this.groups)];
    return this.inTurn(() =>
      this.doOneOf([
        [3, () => this.makeGroup(name)],
        [6, () => this.signedIn('/group/join', { groupId: theirs })],
        [4, () => this.signedIn('/group/quit', { groupId: theirs })],
        [3, () => this.signedIn('/group/rename', { groupId: own, name })],
        [2, () => this.dismissGroup(own)],
        [3, () => this.invite(other)],
        [3, () => this.signedIn('/friendship/agree', { friendId: this.askers.pop() })],
        [1, () => this.signedIn('/friendship/delete', { friendId: other.id })],
      ]),
    );
  }

  private doSomething(): Promise<void> {
    return this.doOneOf([
      [20, () => this.signedIn(`${this.stranger().id}`)],
      [6, () => this.signedIn(`find/44/${this.stranger().phone}`)],
      [14, () => this.catchUp()],
      [6, () => this.signedIn('groups')],
      [4, () => this.signedIn('blacklist')],
      [4, () => this.signedIn('get_token')],
      [4, () => this.calls.post('/user/check_phone_available', { body: this.address })],
      [2, () => this.signedIn('sessions')],
      [1, () => this.calls.post('/user/get_sms_img_code')],
      [14, () => this.rename()],
      [6, () => this.setPortrait()],
      [10, () => this.toggleBlacklist()],
      [4, () => this.logIn()],
      [2, () => this.logOut()],
      [2, () => this.changePassword()],
      [1, () => this.resetPassword()],
      [2, () => this.upload()],
    ]);
  }

  private async doOneOf(things: Thing[]): Promise<void> {
    if (this.cookies.length === 0 && !(await this.logIn())) return;
    let at = randomInt(things.reduce((sum, [weight]) => sum + weight, 0));
    const [, thing] = things.find(([weight]) => (at -= weight) < 0) ?? [];
    await thing?.();
  }

  async logIn(): Promise<boolean> {
    for (const password of [...this.passwords].reverse()) {
      const answer = await this.post('login', { ...this.address, password });
      if (answer.code === 200 && answer.cookie !== undefined) {
        this.passwords.clear();
        this.passwords.add(password);
        this.id = String(field(answer.result, 'id'));
        this.registered = 'yes';
        this.sessions.push({ cookie: answer.cookie, mayBeOver: false });
        return true;
      }
      if (answer.code !== 1_000) return false;
    }
    if (this.registered === 'yes') this.broken.push('no password that was promised lets in');
    return false;
  }

  synchronise(): Promise<boolean> {
    return this.inTurn(() => this.catchUp());
  }

  private async catchUp(): Promise<boolean> {
    if (this.cookies.length === 0 && !(await this.logIn())) return false;
    try {
      await this.client.sync();
      return (await this.store.sync()).ok;
    } catch {
      return false;
    }
  }

  /** Returns everything, as a full sync gives it. */
  async everything(): Promise<FoldingClient> {
    const fresh = new FoldingClient((version) => this.ask(version));
    await fresh.sync();
    return fresh;
  }

  /** Forgets sessions that an operator takes back who restores an earlier state. */
  forgetSessions(): void {
    this.sessions = [];
  }

  /** Runs after the person's current call: it would wrongly report a session as lost that is being ended. */
  private inTurn<T>(thing: () => Promise<T>): Promise<T> {
    const done = this.last.then(thing);
    this.last = done.catch(() => undefined);
    return done;
  }

  private async ask(version: number): Promise<SyncResult> {
    const answer = await this.signedIn(`sync/${version}`);
    if (answer.code !== 200) throw new Error(`sync was answered with ${answer.kind}`);
    return answer.result as SyncResult;
  }

  /** Returns the answer in pieces, as a client receives it. */
  private async changesSince(version: number): Promise<ClientAnswer<AsyncIterable<string>>> {
    const { code, kind, body } = await this.signedIn(`sync/${version}`);
    if (code !== 200) return failure('refused', `sync was answered with ${kind}`, { code });
    const pieces = Readable.from(body.toString().match(/[^]{1,1000}/g) ?? []);
    return { ok: true, result: pieces as AsyncIterable<string>, requestId: undefined };
  }

  private async verify(): Promise<string | undefined> {
    const sent = await this.post('send_code', this.address);
    const code = await this.inbox.codeFor(`+44${this.phone}`);
    if (sent.code !== 200 || code === undefined) return undefined;
    const answer = await this.post('verify_code', { ...this.address, code });
    return answer.code === 200 ? String(field(answer.result, 'verification_token')) : undefined;
  }

  private async rename(): Promise<void> {
    const nickname = `${this.phone % 10_000} ${(this.count += 1)}`;
    await this.change(this.nicknames, nickname, 'set_nickname', { nickname });
  }

  private async setPortrait(): Promise<void> {
    if (randomInt(3) === 0) return void (await this.change(this.portraits, '', 'remove_portrait', {}));
    const portraitUri = `https://img.example/${this.phone}/${(this.count += 1)}`;
    await this.change(this.portraits, portraitUri, 'set_portrait_uri', { portraitUri });
  }

  private async toggleBlacklist(): Promise<void> {
    const { id } = this.stranger();
    if (id === this.id) return;
    const states = this.blacklist.get(id) ?? new Set([false]);
    this.blacklist.set(id, states);
    const next = !states.has(true);
    await this.change(states, next, next ? 'add_to_blacklist' : 'remove_from_blacklist', { friendId: id });
  }

  private async change<T>(possible: Set<T>, value: T, operation: string, body: object): Promise<boolean> {
    const answer = await this.signedIn(operation, body);
    if (answer.code === 200) possible.clear();
    // A definite refusal has changed nothing.
    if (answer.code === 200 || isUnknown(answer)) possible.add(value);
    return answer.code === 200;
  }

  private async invite({ id, askers }: Stranger): Promise<void> {
    const { code } = await this.signedIn('/friendship/invite', { friendId: id });
    if (code === 200) askers.push(this.id);
  }

  private async makeGroup(name: string): Promise<void> {
    const { code, result } = await this.signedIn('/group/create', { name, memberIds: [] });
    if (code === 200) this.groups.push(String(field(result, 'id')));
  }

  private async dismissGroup(groupId: string | undefined): Promise<void> {
    const { code } = await this.signedIn('/group/dismiss', { groupId });
    if (code === 200) this.groups.splice(this.groups.indexOf(String(groupId)), 1);
  }

  private async logOut(): Promise<void> {
    const session = this.sessions.find(({ mayBeOver }) => !mayBeOver);
    if (!session || this.cookies.length < 2) return;
    session.mayBeOver = true;
    await this.post('logout', undefined, session.cookie);
  }

  private async changePassword(): Promise<void> {
    const [oldPassword, ...more] = this.passwords;
    if (oldPassword === undefined || more.length > 0) return;
    const newOne = newPassword();
    const { sessions } = this;
    const [own] = sessions.filter(({ mayBeOver }) => !mayBeOver);
    if (!own) return;
    const answer = await this.post('change_password', { oldPassword, newPassword: newOne }, own.cookie);
    this.learn(answer, newOne, own);
  }

  private async resetPassword(): Promise<void> {
    const token = await this.verify();
    if (token === undefined) return;
    const password = newPassword();
    this.learn(await this.post('reset_password', { password, verification_token: token }), password);
  }

  /** Learns a new password, with which all other sessions have ended. */
  private learn(answer: Answer, password: string, own?: Session): void {
    if (answer.code !== 200 && !isUnknown(answer)) return;
    if (answer.code === 200) this.passwords.clear();
    this.passwords.add(password);
    for (const session of this.sessions) if (session !== own) session.mayBeOver = true;
  }

  private async upload(): Promise<void> {
    const granted = await this.signedIn('get_image_token');
    if (granted.code !== 200) return;
    const key = `${this.id}/${randomBytes(6).toString('hex')}.png`;
    const { headers, body } = multipartForm([
      ['token', String(field(granted.result, 'token'))],
      ['key', key],
      ['file', PNG],
    ]);
    const answer = await this.calls.post('/', { headers, body });
    if (answer.status === 200) this.images.push(key);
  }

  private stranger(): Stranger {
    const others = this.others();
    return oneOf(others) ?? this;
  }

  private async signedIn(operation: string, body?: object): Promise<Answer> {
    const [cookie] = this.cookies;
    const answer = await this.post(operation, body, cookie);
    if (answer.status === 401 && cookie !== undefined) {
      this.broken.push(`${operation} was refused a session that was promised`);
      this.sessions = this.sessions.filter((session) => session.cookie !== cookie);
    }
    return answer;
  }

  private post(operation: string, body?: object, cookie?: string): Promise<Answer> {
    const sent: Sent = { ...(body && { body }), cookie };
    return this.calls.post(operation.startsWith('/') ? operation : `/user/${operation}`, sent);
  }
}

function oneOf<T>(all: T[]): T | undefined {
  return all[randomInt(Math.max(1, all.length))];
}

/** Whether the call may or may not have been done. */
export function isUnknown({ status }: Answer): boolean {
  return status === 0 || status >= 500;
}

export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
