import { setTimeout as sleep } from 'node:timers/promises';
import { databaseUrl } from '../../knexfile';
import { asError } from '../../src/base/errors';
import { missingAt } from '../../src/database/migrations';
import { allowUse } from './moving/connect';
import { NewDatabase } from './moving/new-database';
import { OldDatabase } from './moving/old-database';

/**
 * npm run move: copies the database at DATABASE_URL to the one at MOVE_TO while the service runs, and follows its changes.
 * With --cut-over nobody can use the old one any more, and the new one is made ready. --cancel undoes both.
 */

const FOLLOW_EVERY_MS = 200;
const TELL_EVERY_MS = 10_000;
/** Bytes of the log that are written within a moment. */
const CLOSE = 1_000_000;

const say = (line: string) => process.stdout.write(`${line}\n`);

async function main(words: string[]): Promise<void> {
  const unknown = words.find((word) => word !== '--cut-over' && word !== '--cancel');
  if (unknown !== undefined) throw new Error(`${unknown} is not known: --cut-over or --cancel`);
  const to = process.env.MOVE_TO;
  if (!to) throw new Error('MOVE_TO must be the address of the new database, as its superuser');
  const from = databaseUrl();
  const missing = await missingAt(from);
  if (missing.length > 0) throw new Error('the schema of the old database is not up to date: npm run migrate');
  const old = await OldDatabase.open(from);
  const next = await NewDatabase.open(to, old.tables);
  try {
    if (words.includes('--cancel')) await cancel(old, next);
    else await move(old, next, words.includes('--cut-over'));
  } finally {
    await old.close();
    await next.close();
  }
}

async function move(old: OldDatabase, next: NewDatabase, isCutOver: boolean): Promise<void> {
  await next.begin();
  for (const log of old.logs) await log.begin();
  for (const table of old.tables) if (await next.copy(table, old.db)) say(`Copied: ${table.name}`);
  await follow(old, next, isCutOver);
  const begun = performance.now();
  await old.stopUse();
  while (await pass(old, next));
  await next.finish(await old.newestVersion(), say);
  for (const log of old.logs) await log.remove();
  say(
    `The old database is closed to the service, and the new one is ready, after ${Math.round(performance.now() - begun)} ms.`,
  );
  say('Set DATABASE_URL to the new one, and restart the service. To go back before that: npm run move -- --cancel');
}

/** Writes changes to the new database until it is close to the old one, or for ever. */
async function follow(old: OldDatabase, next: NewDatabase, isCutOver: boolean): Promise<void> {
  for (let told = 0; ;) {
    const hasMore = await pass(old, next);
    let behind = 0;
    for (const log of old.logs) behind = Math.max(behind, await log.behind());
    // A log is that of a whole server, whose other databases may write without end.
    if (isCutOver && (behind < CLOSE || !hasMore)) return;
    if (performance.now() - told > TELL_EVERY_MS || told === 0) {
      told = performance.now();
      say(
        hasMore && behind >= CLOSE
          ? `Behind by ${Math.ceil(behind / 1e6)} MB of the log.`
          : 'The new database follows.',
      );
    }
    if (!hasMore) await sleep(FOLLOW_EVERY_MS);
  }
}

/** Writes the next changes of all servers. Returns false if there were none. */
async function pass(old: OldDatabase, next: NewDatabase): Promise<boolean> {
  let hasMore = false;
  for (const log of old.logs) {
    const changes = await log.next();
    await next.write(changes);
    await log.confirm();
    hasMore ||= changes.size > 0;
  }
  return hasMore;
}

async function cancel(old: OldDatabase, next: NewDatabase): Promise<void> {
  for (const log of old.logs) await log.remove();
  await allowUse(old.db, true);
  await next.end();
  say('The old database can be used, and nothing follows it. The new one has to be emptied before another move.');
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`Cannot move: ${asError(error, 'unknown error').message}\n`);
  process.exitCode = 1;
});
