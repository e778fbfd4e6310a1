// The floor of send_code and verify_code: the service's SQL statements in their order, and the line in the SMS file. The
// statements are those of the service's own repositories, on a bare pool of pg's instead of Knex.
import { Buffer } from 'node:buffer';
import { createHmac, randomInt, randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import pg from 'pg';
import { root } from '../../scripts/dependencies.mjs';

const { DATABASE_URL, SESSION_SECRET, SMS_FILE, PORT } = process.env;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });
const require = createRequire(import.meta.url);
const feature = (path) => require(join(root, 'dist/src/features', path));

const texts = new Map();

/** The text that pg wants, with numbered parameters, made once. */
function numbered(name, sql) {
  let count = 0;
  if (!texts.has(name))
    texts.set(
      name,
      sql.replace(/\?/g, () => `$${(count += 1)}`),
    );
  return texts.get(name);
}

/** As much of Knex as the repositories' prepared statements ask of it. */
const db = {
  userParams: { prepare: true },
  raw: (sql, values) => ({ options: ({ name }) => pool.query({ name, text: numbered(name, sql), values }) }),
};
const { newVerificationToken, tokenHash } = feature('verification/verification-token');
const limits = new (feature('limits/limits-repository').LimitsRepository)(db);
const verification = new (feature('verification/verification-repository').VerificationRepository)(db);
const traffic = new (feature('spend-guard/sms-traffic-repository').SmsTrafficRepository)(db);
const events = new (feature('audit/security-events-repository').SecurityEventsRepository)(db);

const wrongCodes = (phone, ip) => [
  { key: `wrong_codes_pa:${phone} ${ip}`, amount: 20, seconds: DAY },
  { key: `wrong_codes_p:${phone}`, amount: 100, seconds: DAY },
];
const hmac = (phone, code) => createHmac('sha256', SESSION_SECRET).update(`${phone} ${code}`).digest();

async function sendCode(phone, caller) {
  const { number } = phone;
  await limits.full(wrongCodes(number, caller.ip));
  await limits.take([
    { key: `resend:${number}`, amount: 1, seconds: MINUTE },
    { key: `send_per_phone:${number}`, amount: 10, seconds: DAY },
    { key: `send_per_address:${caller.ip}`, amount: 200, seconds: HOUR },
  ]);
  await traffic.of(phone.region);
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  await verification.addCode(phone, hmac(number, code), 300);
  await appendFile(SMS_FILE, `${JSON.stringify({ to: number, code })}\n`);
  await events.add({ event: 'code_sent', phone }, caller);
  return { code: 200 };
}

async function verifyCode(phone, caller, code) {
  const { number } = phone;
  await limits.take([
    { key: `checks_minute:${caller.ip}`, amount: 600, seconds: MINUTE },
    { key: `checks_day:${caller.ip}`, amount: 20_000, seconds: DAY },
  ]);
  const guesses = wrongCodes(number, caller.ip);
  await limits.take(guesses);
  const claimed = await verification.claimAttempt(number, 5);
  if (!claimed?.hmac.equals(hmac(number, code))) return { code: 1000 };
  await limits.giveBack(guesses.map(({ key }) => key));
  await limits.clear(`resend:${number}`);
  const token = newVerificationToken();
  await verification.exchange(claimed.id, phone, tokenHash(token), 1_800);
  await events.add({ event: 'code_verified', phone }, caller);
  return { code: 200, result: { verification_token: token } };
}

async function answer(req, res) {
  const body = JSON.parse(await textOf(req));
  const phone = { number: `+${body.region}${body.phone}`, region: String(body.region) };
  const caller = { ip: req.headers['x-forwarded-for'], userAgent: '', requestId: randomUUID() };
  const isSending = req.url === '/user/send_code';
  send(res, await (isSending ? sendCode(phone, caller) : verifyCode(phone, caller, body.code)));
}

function send(res, value) {
  const body = JSON.stringify(value);
  const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(body) };
  res.writeHead(value.code === 500 ? 500 : 200, headers);
  res.end(body);
}

createServer((req, res) => void answer(req, res).catch(() => send(res, { code: 500 }))).listen(PORT, '127.0.0.1');
