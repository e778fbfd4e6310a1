// The floor of send_code and verify_code: the service's SQL statements in their order, and the line in the SMS file.
import { Buffer } from 'node:buffer';
import { createHash, createHmac, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import pg from 'pg';

const { DATABASE_URL, SESSION_SECRET, SMS_FILE, PORT } = process.env;
const ADDRESS = '127.0.0.1';
const DAY = 86_400;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });

function sums(condition) {
  const sum = (column) => `coalesce(sum(${column}) FILTER (WHERE ${condition}), 0)::integer`;
  return `${sum('sent')}, ${sum('verified')}`;
}

const statements = {
  full: `SELECT key, extract(epoch FROM resets_at - now())::float8 AS seconds
           FROM rate_limits JOIN unnest($1::text[], $2::integer[]) AS wanted (key, most) USING (key)
          WHERE resets_at > now() AND used >= most`,
  take: `INSERT INTO rate_limits AS held (key, used, amount, resets_at)
         SELECT key, 1, amount, now() + make_interval(secs => seconds)
           FROM unnest($1::text[], $2::integer[], $3::integer[]) AS wanted (key, amount, seconds) ORDER BY key
         ON CONFLICT (key) DO UPDATE SET
           used = CASE WHEN held.resets_at <= now() THEN 1 ELSE held.used + 1 END,
           resets_at = CASE WHEN held.resets_at <= now() THEN excluded.resets_at ELSE held.resets_at END,
           amount = excluded.amount,
           noted = held.noted AND held.resets_at > now()
         WHERE held.resets_at <= now() OR held.used < excluded.amount
         RETURNING key`,
  giveBack: `WITH held AS (
               SELECT key, used FROM rate_limits WHERE key = ANY ($1::text[]) AND resets_at > now() ORDER BY key FOR UPDATE),
             emptied AS (DELETE FROM rate_limits WHERE key IN (SELECT key FROM held WHERE used <= 1))
             UPDATE rate_limits SET used = used - 1 WHERE key IN (SELECT key FROM held WHERE used > 1)`,
  traffic: `SELECT ${sums("slot > now() - interval '75 minutes'")}, ${sums("slot > now() - interval '1 day'")},
                   ${sums("slot <= now() - interval '1 day'")}
              FROM sms_traffic
             WHERE region = $1 AND slot > now() - interval '15 days' AND slot + interval '15 minutes' <= now()`,
  note: `INSERT INTO security_events (event, user_id, phone, region, ip, user_agent, request_id, detail)
         VALUES ($1, NULL, '+447…00', $2, $3, '', $4, NULL)`,
  clear: 'DELETE FROM rate_limits WHERE key = $1',
  addCode: `WITH traffic AS (
              INSERT INTO sms_traffic AS held (region, slot, sent) VALUES ($1, sms_traffic_slot(now()), 1)
              ON CONFLICT (region, slot) DO UPDATE SET sent = held.sent + 1)
            INSERT INTO verification_codes (phone, code_hmac, expires_at)
            VALUES ($2, $3, now() + make_interval(secs => $4)) RETURNING id`,
  claim: `UPDATE verification_codes SET attempts = attempts + 1
           WHERE id = (SELECT id FROM verification_codes WHERE phone = $1 ORDER BY id DESC LIMIT 1)
             AND attempts < $2 AND verified_at IS NULL AND expires_at > now()
          RETURNING id, code_hmac AS hmac`,
  exchange: `WITH verified AS (
               UPDATE verification_codes SET verified_at = now() WHERE id = $1 AND verified_at IS NULL
               RETURNING created_at),
             traffic AS (
               UPDATE sms_traffic SET verified = verified + 1
                 FROM verified WHERE region = $2 AND slot = sms_traffic_slot(verified.created_at))
             INSERT INTO verification_tokens (token_hash, phone, region, expires_at)
             SELECT $3, $4, $2, now() + make_interval(secs => $5) FROM verified`,
};

async function sql(name, ...values) {
  return (await pool.query({ name, text: statements[name], values })).rows;
}

const wrongCodes = (phone) => [`wrong_codes_pa:${phone} ${ADDRESS}`, `wrong_codes_p:${phone}`];
const hmac = (phone, code) => createHmac('sha256', SESSION_SECRET).update(`${phone} ${code}`).digest();

async function sendCode(phone, region) {
  await sql('full', wrongCodes(phone), [20, 100]);
  await sql('take', [`resend:${phone}`, `send_per_phone:${phone}`], [1, 10], [60, DAY]);
  await sql('traffic', region);
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  await sql('addCode', region, phone, hmac(phone, code), 300);
  await appendFile(SMS_FILE, `${JSON.stringify({ to: phone, code })}\n`);
  await sql('note', 'code_sent', region, ADDRESS, randomUUID());
  return { code: 200 };
}

async function verifyCode(phone, region, code) {
  await sql('take', wrongCodes(phone), [20, 100], [DAY, DAY]);
  const [claimed] = await sql('claim', phone, 5);
  if (!claimed?.hmac.equals(hmac(phone, code))) return { code: 1000 };
  await sql('giveBack', wrongCodes(phone));
  const token = randomBytes(16).toString('base64url');
  await sql('clear', `resend:${phone}`);
  await sql('exchange', claimed.id, region, createHash('sha256').update(token).digest(), phone, 1_800);
  await sql('note', 'code_verified', region, ADDRESS, randomUUID());
  return { code: 200, result: { verification_token: token } };
}

async function answer(req, res) {
  const { region, phone, code } = JSON.parse(await textOf(req));
  const number = `+${region}${phone}`;
  const isSending = req.url === '/user/send_code';
  send(res, await (isSending ? sendCode(number, String(region)) : verifyCode(number, String(region), code)));
}

function send(res, value) {
  const body = JSON.stringify(value);
  const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(body) };
  res.writeHead(value.code === 500 ? 500 : 200, headers);
  res.end(body);
}

createServer((req, res) => void answer(req, res).catch(() => send(res, { code: 500 }))).listen(PORT, ADDRESS);
