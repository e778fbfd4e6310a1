import { BadRequest, Forbidden, NotFound, Wrong } from '../../base/errors';
import type { ReasonOf } from '../../base/reasons';
import { MEMBER } from './roles';

/** The same for a group that is not there, one that is dismissed, and one that is not the user's. */
export function noSuchGroup(): NotFound {
  return new NotFound('no_such_group', 'groupId: is not one of your groups');
}

/** The role of a member; for anybody else there is no such group. */
export function asMember(role: number | undefined): number {
  if (role === undefined) throw noSuchGroup();
  return role;
}

/** The role, where it is one that this takes. */
export function asOneOf(role: number | undefined, ...allowed: number[]): number {
  const own = asMember(role);
  if (!allowed.includes(own)) throw lacking(own);
  return own;
}

export function lacking(role: number): Forbidden {
  return new Forbidden(
    'role_too_low',
    `groupId: ${role === MEMBER ? 'a member' : 'a manager'} of this group may not do this`,
  );
}

export function inTooMany(most: number): Wrong {
  return new Wrong('too_many_memberships', `you are in ${most} groups already`);
}

/** In the message; details have all. */
const NAMED = 3;

/** Names each of the ids, where it was sent, and says why. */
export function unfit(reason: ReasonOf<400>, memberIds: string[], whys: Map<string, string>): BadRequest {
  const details = [...new Set(memberIds)].flatMap((id) => {
    const why = whys.get(id);
    return why === undefined ? [] : [{ path: `memberIds.${memberIds.indexOf(id)}`, message: `${id} ${why}` }];
  });
  const first = details.slice(0, NAMED).map(({ path, message }) => `${path}: ${message}`);
  const others = details.length - first.length;
  const message = [...first, ...(others > 0 ? [`and ${others} others, which details have`] : [])].join('; ');
  return new BadRequest(reason, message, { details });
}
