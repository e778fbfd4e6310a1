import { databaseUrl } from '../../knexfile';
import { asError } from '../../src/base/errors';
import { migrate } from '../../src/database/migrations';

/** npm run migrate: brings the schema up to date, and grants the role of the service what it needs. */

const say = (line: string) => process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const applied = await migrate(databaseUrl(), { announce: say });
  say(applied.length > 0 ? `Applied migrations: ${applied.join(', ')}` : 'The schema is up to date.');
}

main().catch((error: unknown) => {
  process.stderr.write(`Cannot migrate: ${asError(error, 'unknown error').message}\n`);
  process.exitCode = 1;
});
