import { NOTHING, statement, type Source } from './statement';

const groupsOf = statement<{ id: string }, 'userId'>('groups-ever', NOTHING, {
  distributed: 'SELECT groups_of(:userId) AS id',
});

/** No group has this id. For an empty list Citus would ask all servers. */
export const NO_GROUPS = [''];

/**
 * Returns the groups that the user is or was in, for a statement that would ask all servers without them. On one server
 * nothing needs them, and nothing is asked.
 */
export async function groupsEver(on: Source, userId: string): Promise<string[]> {
  const found = await groupsOf(on, { userId });
  return found.length > 0 ? found.map(({ id }) => id) : NO_GROUPS;
}
