import { migrate } from '../../src/database/migrations';
import { connectTo } from '../support/clusters';
import { emptyDatabase } from '../support/database';
import { makeDataDir, startService } from '../support/started';
import { walkThrough } from '../support/walk-through';

/** A later release might add these: a column, a constraint, an index, a table, a trigger that maintains the column. */
const LATER = `
  ALTER TABLE users ADD COLUMN mood text NOT NULL DEFAULT '', ADD CONSTRAINT users_mood_short CHECK (length(mood) < 9);
  ALTER TABLE session ADD COLUMN device text;
  CREATE INDEX users_mood ON users (mood) WHERE mood <> '';
  CREATE TABLE moods (user_id text PRIMARY KEY REFERENCES users (id), changed_at timestamptz NOT NULL DEFAULT now());
  CREATE FUNCTION users_note_mood() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp AS $$
  BEGIN
    INSERT INTO moods (user_id) VALUES (NEW.id) ON CONFLICT DO NOTHING;
    RETURN NULL;
  END $$;
  CREATE TRIGGER users_note_mood AFTER INSERT OR UPDATE ON users FOR EACH ROW EXECUTE FUNCTION users_note_mood();
  INSERT INTO knex_migrations (name, batch, migration_time) VALUES ('9999_moods', 99, now())`;

describe('a schema that a later release has added to', () => {
  it('serves an instance that ran before it, and one that starts on it', async () => {
    const database = await emptyDatabase();
    await migrate(database.url);
    const env = {
      DATA_DIR: makeDataDir(),
      DATABASE_URL: database.serviceUrl,
      DATABASE_MIGRATION_URL: database.url,
      SMS_PROVIDER: 'file',
    };
    const before = await (await startService(env)).untilReady();
    // The instance prepares statements now, and executes them again after the later release.
    await walkThrough(before, env.DATA_DIR);

    const later = await connectTo(database.url);
    await later.query(LATER);
    await walkThrough(before, env.DATA_DIR);

    for (const AUTO_MIGRATE of ['on', 'off']) {
      const after = await (await startService({ ...env, AUTO_MIGRATE })).untilReady();
      expect(after.stdout).not.toContain('Applied migrations');
      await walkThrough(after, env.DATA_DIR);
      await after.stop();
    }
    const { rows } = await later.query('SELECT count(*) FROM moods JOIN users ON users.id = moods.user_id');
    expect(rows).toEqual([{ count: '3' }]);

    await later.end();
    await before.stop();
    await database.drop();
  });
});
