import { createHash } from 'node:crypto';
import { Gate } from '../gate';
import { startVendorServer, type RecordedRequest, type Reply, type Trouble, type VendorServer } from './vendor-server';

export interface RongCloudError {
  status: number;
  code: number;
}

export type RongCloudBehaviour = 'accept' | RongCloudError | Trouble;

export interface RongCloudNotice {
  path: string;
  objectName: string;
  fromUserId: string;
  /** A user or a group. */
  to: string;
  content: unknown;
}

export interface RongCloudGroup {
  name: string;
  members: string[];
}

export interface RongCloudStandIn extends VendorServer {
  appKey: string;
  appSecret: string;
  /** Sets its behaviour for all later requests. */
  behave(behaviour: RongCloudBehaviour): void;
  /** Holds the next request for this path before anything is done for it. */
  holdRequest(path: string): Gate;
  /** Holds the answer to the next request for this path, after it was done. */
  holdAnswer(path: string): Gate;
  /** The users whose tokens were ended. */
  expired: string[];
  /** Whether a client with this token could connect. */
  isValid(token: string): boolean;
  /** The latest profile of a user that it received. */
  profile(userId: string): { name: string; portraitUri: string } | undefined;
  /** Sorted ids of users whose messages this user does not get. */
  blacklist(userId: string): string[];
  group(groupId: string): RongCloudGroup | undefined;
  /** Ids of dismissed groups, one for each call. */
  dismissed: string[];
  notices: RongCloudNotice[];
}

const APP_KEY = 'z3v5yqkbv8v30';
const APP_SECRET = 'Uv7pQe2sXw9Rk1';
const CLOCK_SKEW_MS = 60_000;
const MOST_BLACKLISTED = 20;
const MOST_MEMBERS = 100;
const OK: Reply = { status: 200, json: { code: 200 } };

/** Imitates the calls of RongCloud's server API that the service makes. Accepts calls for a group that it does not know. */
export async function startRongCloudStandIn(): Promise<RongCloudStandIn> {
  let behaviour: RongCloudBehaviour = 'accept';
  const copies = new Copies();
  const requestsHeld = new Map<string, Gate>();
  const answersHeld = new Map<string, Gate>();

  const replyTo = (request: RecordedRequest): Reply => {
    const call = copies.calls[request.path];
    const refused = refusal(request, call);
    if (refused !== undefined) return refused;
    if (typeof behaviour === 'object') return error(behaviour.status, behaviour.code);
    if (behaviour !== 'accept') return { trouble: behaviour };
    return call?.accept(request.form) ?? OK;
  };

  const server = await startVendorServer(200, async (request) => {
    await waitAtGate(requestsHeld, request.path);
    const reply = replyTo(request);
    await waitAtGate(answersHeld, request.path);
    return reply;
  });
  return {
    ...server,
    appKey: APP_KEY,
    appSecret: APP_SECRET,
    behave(next) {
      behaviour = next;
    },
    profile: (userId) => copies.profiles.get(userId),
    blacklist: (userId) => [...(copies.blacklists.get(userId) ?? [])].sort(),
    group: (groupId) => copies.group(groupId),
    dismissed: copies.dismissed,
    notices: copies.notices,
    holdRequest: (path) => addGate(requestsHeld, path),
    holdAnswer: (path) => addGate(answersHeld, path),
    expired: copies.expired,
    isValid: (token) => copies.isValid(token),
  };
}

interface Call {
  isWellFormed(form: URLSearchParams): boolean;
  accept(form: URLSearchParams): Reply | void;
}

/** RongCloud's copies of users and groups, and the calls that change them. */
class Copies {
  readonly expired: string[] = [];
  readonly dismissed: string[] = [];
  readonly notices: RongCloudNotice[] = [];
  readonly profiles = new Map<string, { name: string; portraitUri: string }>();
  readonly blacklists = new Map<string, Set<string>>();
  private readonly groups = new Map<string, { name: string; members: Set<string> }>();
  private readonly tokens = new Map<string, { userId: string; issuedAt: number }>();
  private readonly expiredBefore = new Map<string, number>();

  readonly calls: Record<string, Call> = {
    '/user/getToken.json': {
      isWellFormed: isProfile,
      accept: (form) => {
        this.setProfile(form);
        const userId = one(form, 'userId');
        const token = `token-${this.tokens.size + 1}-of-${userId}@stand-in`;
        this.tokens.set(token, { userId, issuedAt: Date.now() });
        return { status: 200, json: { code: 200, userId, token } };
      },
    },
    '/user/refresh.json': {
      isWellFormed: (form) => isId(form, 'userId') && this.profiles.has(one(form, 'userId')),
      accept: (form) => this.setProfile(form),
    },
    '/user/token/expire.json': {
      isWellFormed: (form) => isId(form, 'userId') && /^\d{13}$/.test(one(form, 'time')),
      accept: (form) => {
        const userId = one(form, 'userId');
        this.expired.push(userId);
        this.expiredBefore.set(userId, Math.max(Number(form.get('time')), this.expiredBefore.get(userId) ?? 0));
      },
    },
    '/user/blacklist/add.json': {
      isWellFormed: isBlacklist,
      accept: (form) => {
        const { userId, others } = blacklistIn(form);
        this.blacklists.set(userId, new Set([...(this.blacklists.get(userId) ?? []), ...others]));
      },
    },
    '/user/blacklist/remove.json': {
      isWellFormed: isBlacklist,
      accept: (form) => {
        const { userId, others } = blacklistIn(form);
        for (const other of others) this.blacklists.get(userId)?.delete(other);
      },
    },
    '/group/create.json': {
      isWellFormed: (form) => isMembership(form) && one(form, 'groupName') !== '',
      accept: (form) => {
        const members = this.groups.get(one(form, 'groupId'))?.members ?? [];
        const all = new Set([...members, ...form.getAll('userId')]);
        this.groups.set(one(form, 'groupId'), { name: one(form, 'groupName'), members: all });
      },
    },
    '/group/quit.json': {
      isWellFormed: isMembership,
      accept: (form) => {
        for (const id of form.getAll('userId')) this.groups.get(one(form, 'groupId'))?.members.delete(id);
      },
    },
    '/group/refresh.json': {
      isWellFormed: (form) => isId(form, 'groupId') && one(form, 'groupName') !== '',
      accept: (form) => {
        const group = this.groups.get(one(form, 'groupId'));
        if (group) group.name = one(form, 'groupName');
      },
    },
    '/group/dismiss.json': {
      isWellFormed: (form) => isId(form, 'userId') && isId(form, 'groupId'),
      accept: (form) => {
        this.groups.delete(one(form, 'groupId'));
        this.dismissed.push(one(form, 'groupId'));
      },
    },
    '/message/system/publish.json': this.publishing('/message/system/publish.json', 'toUserId'),
    '/message/group/publish.json': this.publishing('/message/group/publish.json', 'toGroupId'),
  };

  isValid(token: string): boolean {
    const known = this.tokens.get(token);
    return known !== undefined && known.issuedAt >= (this.expiredBefore.get(known.userId) ?? 0);
  }

  group(id: string): RongCloudGroup | undefined {
    const group = this.groups.get(id);
    return group && { name: group.name, members: [...group.members].sort() };
  }

  private setProfile(form: URLSearchParams): void {
    const userId = one(form, 'userId');
    const portraitUri = form.get('portraitUri') ?? this.profiles.get(userId)?.portraitUri ?? '';
    const name = form.get('name') ?? this.profiles.get(userId)?.name ?? '';
    this.profiles.set(userId, { name, portraitUri });
  }

  private publishing(path: string, to: string): Call {
    return {
      isWellFormed: (form) =>
        isId(form, 'fromUserId') && isId(form, to) && one(form, 'objectName') !== '' && isJson(one(form, 'content')),
      accept: (form) => {
        const [objectName, fromUserId] = [one(form, 'objectName'), one(form, 'fromUserId')];
        const content: unknown = JSON.parse(one(form, 'content'));
        this.notices.push({ path, objectName, fromUserId, to: one(form, to), content });
      },
    };
  }
}

/** Returns the value of a field that is there once. */
function one(form: URLSearchParams, name: string): string {
  const [value = '', ...more] = form.getAll(name);
  return more.length > 0 ? '' : value;
}

function isId(form: URLSearchParams, name: string): boolean {
  return areIds([one(form, name)], 1);
}

function areIds(ids: string[], most: number): boolean {
  return ids.length > 0 && ids.length <= most && ids.every((id) => /^[A-Za-z0-9+=_-]{1,64}$/.test(id));
}

function isProfile(form: URLSearchParams): boolean {
  return isId(form, 'userId') && one(form, 'name') !== '';
}

function isBlacklist(form: URLSearchParams): boolean {
  return isId(form, 'userId') && areIds(form.getAll('blackUserId'), MOST_BLACKLISTED);
}

function blacklistIn(form: URLSearchParams): { userId: string; others: string[] } {
  return { userId: one(form, 'userId'), others: form.getAll('blackUserId') };
}

function isMembership(form: URLSearchParams): boolean {
  return areIds(form.getAll('userId'), MOST_MEMBERS) && isId(form, 'groupId');
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

function addGate(gates: Map<string, Gate>, path: string): Gate {
  const gate = new Gate();
  gates.set(path, gate);
  return gate;
}

/** Makes one request wait. Later requests pass. */
async function waitAtGate(gates: Map<string, Gate>, path: string): Promise<void> {
  const gate = gates.get(path);
  gates.delete(path);
  await gate?.wait();
}

function refusal({ method, headers, form }: RecordedRequest, call: Call | undefined): Reply | undefined {
  if (method !== 'POST' || !call) return error(404, 404);
  if (!isSigned(headers)) return error(401, 1004);
  if (!headers['content-type']?.startsWith('application/x-www-form-urlencoded')) return error(400, 1002);
  return call.isWellFormed(form) ? undefined : error(400, 1002);
}

function isSigned(headers: RecordedRequest['headers']): boolean {
  const [nonce, timestamp] = [String(headers['nonce']), String(headers['timestamp'])];
  const expected = createHash('sha1')
    .update(APP_SECRET + nonce + timestamp)
    .digest('hex');
  return (
    headers['app-key'] === APP_KEY &&
    headers['signature'] === expected &&
    nonce.length <= 18 &&
    Math.abs(Number(timestamp) - Date.now()) < CLOCK_SKEW_MS
  );
}

function error(status: number, code: number): Reply {
  return { status, json: { code, errorMessage: `refused, secret ${APP_SECRET}`, url: '/user' } };
}
