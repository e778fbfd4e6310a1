import { BadRequest, Forbidden, NotFound, Wrong } from '../../base/errors';
import type { ReasonOf } from '../../base/reasons';
import { MEMBER } from './roles';

/** One refusal for a group that does not exist, is dismissed, or is not the user's. */
export function noSuchGroup(): NotFound {
  return new NotFound('no_such_group', 'groupId: is not one of your groups');
}

/** Returns the role of a member. For anybody else the group does not exist. */
export function asMember(role: number | undefined): number {
  if (role === undefined) throw noSuchGroup();
  return role;
}

/** Returns the role if it is an allowed one. */
export function asOneOf(role: number | undefined, ...allowed: number[]): number {
  const own = asMember(role);
  if (!allowed.includes(own)) throw roleTooLow(own);
  return own;
}

export function roleTooLow(role: number): Forbidden {
  return new Forbidden(
    'role_too_low',
    `groupId: ${role === MEMBER ? 'a member of this group' : 'a manager of this group'} may not do this`,
  );
}

export function inTooMany(most: number): Wrong {
  return new Wrong('too_many_memberships', `you are in ${most} groups already`);
}

/** Ids that the message names. `details` has all of them. */
const NAMED = 3;

/** Names each of the ids by its place in the request, with the cause. */
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
