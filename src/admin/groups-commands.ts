import { ALWAYS, Mistake, type Command, type Row, type Workplace } from './command';
import type { FoundGroup } from './lookups';
import { userIn } from './who';

export const GROUPS: Command[] = [
  {
    name: 'groups show',
    takes: '<group>',
    what: 'shows a group by its id, with its creator, its managers and 50 of its members at most',
    scope: 'read',
    run: async (at, { words: [id = ''] }) => {
      const group = await groupIn(at, id);
      const members = group.state === 'open' ? await at.support.members(group.id) : [];
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
    run: async (at, { words: [id = ''], options }) => {
      const group = await openGroupIn(at, id);
      if (!options.dryRun) await (await at.services()).dismissals.dismiss(group.id, group.creatorId, at.caller);
      return { [options.dryRun ? 'would dismiss' : 'dismissed']: [groupRow(group)] };
    },
  },
  {
    name: 'groups transfer',
    takes: '<group> <user>',
    what: 'makes another member the creator of a group, as its creator can',
    scope: 'support',
    changes: ALWAYS,
    run: async (at, { words: [id = '', who = ''], options }) => {
      const group = await openGroupIn(at, id);
      const user = await userIn(at, who);
      await checkHeir(at, group, user.id);
      if (!options.dryRun) await (await at.services()).memberships.transfer(group.id, group.creatorId, user.id);
      const row = { id: group.id, name: group.name, before: group.creatorId, after: user.id };
      return { [options.dryRun ? 'would transfer' : 'transferred']: [row] };
    },
  },
];

async function groupIn({ support }: Workplace, id: string): Promise<FoundGroup> {
  const group = await support.group(id);
  if (!group) throw new Mistake(`${id}: no group has this id`);
  return group;
}

async function openGroupIn(at: Workplace, id: string): Promise<FoundGroup> {
  const group = await groupIn(at, id);
  if (group.state === 'dismissed') throw new Mistake(`${id}: the group is dismissed`);
  return group;
}

async function checkHeir(at: Workplace, { id, creatorId }: FoundGroup, userId: string): Promise<void> {
  if (userId === creatorId) throw new Mistake(`${userId}: is the creator of this group`);
  if (!(await at.reads.isMember(id, userId))) throw new Mistake(`${userId}: is not a member of this group`);
}

function groupRow({ id, name, creatorId, members }: FoundGroup): Row {
  return { id, name, creatorId, members };
}
