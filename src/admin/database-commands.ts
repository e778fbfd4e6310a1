import type { Command } from './command';

export const DATABASE: Command[] = [
  {
    name: 'db status',
    takes: '',
    what: 'shows the version of the database, its size, migrations, transactions and standbys',
    scope: 'read',
    run: async ({ support }) => {
      const { version, size, newestMigration, connections, oldestSeconds, standbys, mostDead } = await support.server();
      const rows = {
        'newest migration': newestMigration,
        connections,
        'oldest transaction, s': oldestSeconds,
        standbys,
      };
      return { database: [{ version, size, ...rows, 'most dead rows': mostDead }] };
    },
  },
];
