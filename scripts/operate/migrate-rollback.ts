import { databaseUrl } from '../../knexfile';
import { newestMigration, undoMigration } from '../../src/database/migrations';

/**
 * npm run migrate:rollback: undoes the newest migration; in production only after two confirmations. In the image it is
 * node dist/scripts/operate/migrate-rollback.js.
 */

const AGREED = 2;

async function rollBack(answers: string[]): Promise<string> {
  const url = databaseUrl();
  const migration = await newestMigration(url);
  if (migration === undefined) return 'No migration has been applied: there is nothing to undo.';
  process.stdout.write(
    `To undo ${migration.name} is to run this, and what it drops is gone:\n\n${migration.undoing}\n`,
  );
  const isAgreed =
    process.env.NODE_ENV !== 'production' || answers.filter((answer) => answer === '--yes').length >= AGREED;
  if (!isAgreed)
    throw new Error(
      'Nothing was undone. In production say so twice: --yes --yes at the end of the command (after npm, -- --yes --yes)',
    );
  await undoMigration(url, migration);
  return `${migration.name} was undone. A service with AUTO_MIGRATE=on applies it again at its next start.`;
}

rollBack(process.argv.slice(2)).then(
  (line) => process.stdout.write(`${line}\n`),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : 'unknown error'}\n`);
    process.exitCode = 1;
  },
);
