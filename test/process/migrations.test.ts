import { migrate, migratorConfig } from '../../src/database/migrations';
import { connectTo } from '../support/clusters';
import { emptyDatabase } from '../support/database';
import { testPool } from '../support/pool';

/** A migration that needs an exclusive lock on the table of captchas. */
const ON_CAPTCHAS = '0010_captchas_png_only';

describe('a migration that meets a lock', () => {
  // guard migrations-1: a migration yields to clients that wait for its lock
  // src/database/migrations.ts
  // - lock_timeout: 2_000,
  // + lock_timeout: 0,
  it('blocks no other client for long, retries, logs it, and succeeds when the lock is gone', async () => {
    const database = await emptyDatabase();
    await migrate(database.url);
    const pool = testPool(database.url, 2);
    await pool.db.migrate.down({ ...migratorConfig, name: ON_CAPTCHAS });
    await pool.close();
    const [reader, other] = [await connectTo(database.url), await connectTo(database.url)];
    await reader.query('BEGIN; SELECT FROM captchas');

    const told: string[] = [];
    const migrating = migrate(database.url, { announce: (line) => told.push(line), pausesMs: [600, 600, 60_000] });
    // A client comes every tenth of a second. Each waits for the migration's lock request, which lasts for two seconds.
    await other.query('SET lock_timeout = 30000');
    while (told.length < 2) {
      await other.query('SELECT FROM captchas');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await reader.query('ROLLBACK');
    expect(await migrating).toHaveLength(1);
    expect(told).toEqual([expect.stringContaining('retrying in 0.6 s'), expect.any(String)]);

    await Promise.all([reader.end(), other.end()]);
    await database.drop();
  });

  it('fails in the end without changes if the lock stays', async () => {
    const database = await emptyDatabase();
    await migrate(database.url);
    const pool = testPool(database.url, 2);
    await pool.db.migrate.down({ ...migratorConfig, name: ON_CAPTCHAS });
    await pool.close();
    const reader = await connectTo(database.url);
    await reader.query('BEGIN; SELECT FROM captchas');
    await expect(migrate(database.url, { pausesMs: [10] })).rejects.toMatchObject({ code: '55P03' });
    await reader.end();
    expect(await migrate(database.url)).toHaveLength(1);
    await database.drop();
  });
});
