import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/service-process';
import { generate } from './generate';
import { Page } from './page';

/** What docs/swift.md relies upon beside the calls that it makes, by type. */
const TYPES: Record<string, string[]> = {
  Region: ['case typeInt64(Int64)', 'case typeString(String)'],
  PhoneNumber: ['case typeInt64(Int64)', 'case typeString(String)'],
  UserSendCodeAnswer: ['case typeDone(Done)', 'case typeReturnCode5000(ReturnCode5000)'],
  UserVerifyCodeAnswer: [
    'case typeUserVerifyCodeSuccess(UserVerifyCodeSuccess)',
    'case typeReturnCode1000(ReturnCode1000)',
    'case typeReturnCode2000(ReturnCode2000)',
  ],
  UserLoginAnswer: ['case typeUserLoginSuccess(UserLoginSuccess)', 'case typeReturnCode1000(ReturnCode1000)'],
  ReturnCode1000: ['case _1000 = 1000'],
  ReturnCode5000: ['case _5000 = 5000'],
  VerificationToken: ['var verificationToken: String'],
  UserSyncByVersionAnswer: ['var result: SyncChanges'],
  SyncChanges: ['var version: Int64', 'var user: SyncUser', 'var groupMembers: [SyncMember]'],
  SyncBlacklistEntry: ['var friendId: String', 'var status: Bool', 'var user: Names?'],
  SyncFriend: ['var friendId: String', 'var status: FriendStatus', 'var user: Names?'],
  FriendStatus: ['enum FriendStatus: Int', 'case deleted = 30'],
  SyncMembership: ['var isDeleted: Bool', 'var group: SyncGroup', 'var role: GroupRole'],
  SyncGroup: ['var id: String'],
  SyncMember: ['var groupId: String', 'var memberId: String', 'var isDeleted: Bool', 'var user: Names'],
  GroupDetail: ['var dismissedAt: Date?', 'var memberCount: Int'],
  ImageToken: ['var domain: String', 'var token: String'],
  StoredImage: ['var key: String'],
};

/** Generated and read, since there is no compiler of Swift among what Maven Central and npm have. */
export async function swift(folder: string): Promise<void> {
  const page = new Page('swift.md');
  const client = join(folder, 'swift');
  await generate(page, join(ROOT, 'docs/openapi.json'), client);
  const sources = join(client, 'Sources/AccountsClient');
  const source = readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.swift'))
    .map((name) => readFileSync(join(sources, name), 'utf8'))
    .join('\n');
  const missing = [...typesMissing(source), ...callsMissing(source, page.code('swift'))];
  if (missing.length > 0) throw new Error(`the generated client has not:\n${missing.join('\n')}`);
  // Enumerations are of numbers and of strings alone, and of escapes there are few.
  const [wrong] = /enum \w+: (Bool|Double)\b|"[^"\n]*\\[^\\"'0nrtu(\n].*/.exec(source) ?? [];
  if (wrong !== undefined) throw new Error(`no Swift: ${wrong}`);
}

function typesMissing(source: string): string[] {
  return Object.entries(TYPES).flatMap(([type, lines]) => {
    const [text = ''] = new RegExp(`^public (struct|enum) ${type}\\b.*?^}$`, 'ms').exec(source) ?? [];
    return lines.filter((line) => !text.includes(line)).map((line) => `${type}: ${line}`);
  });
}

/** Functions and initialisers that the page calls, with the names of their arguments in the generated order. */
function callsMissing(source: string, code: string): string[] {
  const flat = code.replace(/\s+/g, ' ');
  const calls = [...flat.matchAll(/\b(?:\w+API\.(\w+)|(CodeTo\w+|Credentials|SyncOptions|NewPortrait))\(/g)];
  return calls.flatMap(([call, name, type], index) => {
    const names = argumentsAt(flat.slice((calls[index]?.index ?? 0) + call.length));
    const declared = name === undefined ? initialiserOf(source, type ?? '') : functionOf(source, name);
    const inOrder = [...(declared ?? '').matchAll(/(\w+):/g)].map(([, one]) => one);
    const given = inOrder.filter((one) => names.includes(one ?? ''));
    return declared !== undefined && given.join() === names.join() ? [] : [`${call}${names.join()}) of ${declared}`];
  });
}

const functionOf = (source: string, name: string) => new RegExp(`func ${name}\\((.*?)\\) `).exec(source)?.[1];
const initialiserOf = (source: string, type: string) =>
  new RegExp(`^public struct ${type}:.*?public init\\((.*?)\\) {`, 'ms').exec(source)?.[1];

/** The names of the arguments of a call whose bracket has just been opened. */
function argumentsAt(text: string): string[] {
  const names: string[] = [];
  let depth = 1;
  for (const [, bracket, name] of text.matchAll(/([([)\]])|(\w+): /g)) {
    if (bracket !== undefined) depth += '(['.includes(bracket) ? 1 : -1;
    else if (depth === 1 && name !== undefined) names.push(name);
    if (depth === 0) break;
  }
  return names;
}
