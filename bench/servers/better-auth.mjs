// better-auth with its own tables. Its session cookie cache is off, which is the default. Its rate limit is off too:
// 100 requests in 10 seconds for each address would leave nothing to measure.
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { toNodeHandler } from 'better-auth/node';
import pg from 'pg';
import { DATABASE_URL, HOST, listen, PORT, SESSION_SECRET } from './own.mjs';

const options = {
  database: new pg.Pool({ connectionString: DATABASE_URL }),
  secret: SESSION_SECRET,
  baseURL: `http://${HOST}:${PORT}`,
  emailAndPassword: { enabled: true },
  session: { cookieCache: { enabled: false } },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
};

const { runMigrations } = await getMigrations(options);
await runMigrations();
listen(toNodeHandler(betterAuth(options)));
