import { ALWAYS, OperatorError, type Command, type Row, type Context } from './command';
import type { FoundGroup } from './lookups';
import { userIn } from './who';

export const GROUPS: Command[] = [
  {
    name: 'groups show',
    takes: '<group>',
    what: 'shows a group by its id, with its creator, its managers and 50 of its members at most',
    scope: 'read',
    run: async (context, { words: [id = ''] }) => {
      const group = await groupIn(context, id);
      const members = group.state === 'open' ? await context.support.members(group.id) : [];
      return { group: [{ ...group }], members: members.map((member): Row => ({ ...member })) };
    },
  },
  {
    name: 'groups dismiss',
    takes: '<group>',
    what: 'dismisses a group for all its members, as its creator can',
    scope: 'admin',
    changes: ALWAYS,
    isFinal: true,
    run: async (context, { words: [id = ''], options }) => {
      const group = await openGroupIn(context, id);
      if (!options.dryRun)
        await (await context.services()).dismissals.dismiss(group.id, group.creatorId, context.caller);
      return { [options.dryRun ? 'would dismiss' : 'dismissed']: [groupRow(group)] };
    },
  },
  {
    name: 'groups transfer',
    takes: '<group> <user>',
    what: 'makes another member the creator of a group, as its creator can',
    scope: 'support',
    changes: ALWAYS,
    run: async (context, { words: [id = '', who = ''], options }) => {
      const group = await openGroupIn(context, id);
      const user = await userIn(context, who);
      await checkHeir(context, group, user.id);
      if (!options.dryRun) await (await context.services()).memberships.transfer(group.id, group.creatorId, user.id);
      const row = { id: group.id, name: group.name, before: group.creatorId, after: user.id };
      return { [options.dryRun ? 'would transfer' : 'transferred']: [row] };
    },
  },
];

async function groupIn({ support }: Context, id: string): Promise<FoundGroup> {
  const group = await support.group(id);
  if (!group) throw new OperatorError(`${id}: no group has this id`);
  return group;
}

async function openGroupIn(context: Context, id: string): Promise<FoundGroup> {
  const group = await groupIn(context, id);
  if (group.state === 'dismissed') throw new OperatorError(`${id}: the group is dismissed`);
  return group;
}

async function checkHeir(context: Context, { id, creatorId }: FoundGroup, userId: string): Promise<void> {
  if (userId === creatorId) throw new OperatorError(`${userId}: is the creator of this group`);
  if (!(await context.reads.isMember(id, userId))) throw new OperatorError(`${userId}: is not a member of this group`);
}

function groupRow({ id, name, creatorId, members }: FoundGroup): Row {
  return { id, name, creatorId, members };
}
