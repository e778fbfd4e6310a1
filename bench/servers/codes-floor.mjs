// The floor of send_code and verify_code: the service's SQL statements in their order, and the line in the SMS file.
// The statements come from the service's own repositories, and run on a bare pool of pg instead of Knex.
import { createHmac, randomInt, randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { json } from 'node:stream/consumers';
import { root } from '../../scripts/launch/dependencies.mjs';
import { listenJson, newPool, SESSION_SECRET, SMS_FILE } from './own.mjs';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const pool = newPool();
const feature = createRequire(`${root}/dist/src/features/`);
/** Runs the repositories' statements. */
const db = { run: async (query, values) => (await pool.query({ ...query, values })).rows };
const { newVerificationToken } = feature('./verification/verification-token');
const { tokenHash } = feature('../base/secrets');
const limits = new (feature('./limits/limits-repository').LimitsRepository)(db);
const verification = new (feature('./verification/verification-repository').VerificationRepository)(db);
const traffic = new (feature('./spend-guard/sms-traffic-repository').SmsTrafficRepository)(db);
const events = new (feature('./audit/security-events-repository').SecurityEventsRepository)(db);

const wrongCodes = (phone, ip) => [
  { key: `wrong_codes_pa:${phone} ${ip}`, amount: 20, seconds: DAY },
  { key: `wrong_codes_p:${phone}`, amount: 100, seconds: DAY },
];
const hmac = (phone, text) => createHmac('sha256', SESSION_SECRET).update(`${phone} ${text}`).digest();

async function sendCode(phone, caller) {
  const { number } = phone;
  await limits.findFull(wrongCodes(number, caller.ip));
  await limits.take([
    { key: `resend:${number}`, amount: 1, seconds: MINUTE },
    { key: `send_per_phone:${number}`, amount: 10, seconds: DAY },
    { key: `send_per_address:${caller.ip}`, amount: 200, seconds: HOUR },
  ]);
  await traffic.ofRegion(phone);
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  const kept = { hmac: hmac(number, code), askerHmac: hmac(number, caller.ip) };
  await verification.addCode(phone, kept, { network: caller.ip, way: 'twilio', language: 'en' }, 300);
  await appendFile(SMS_FILE, `${JSON.stringify({ to: number, code })}\n`);
  await events.add({ event: 'code_sent', phone }, caller);
  return { code: 200 };
}

async function verifyCode(phone, caller, code) {
  const { number } = phone;
  await limits.take([
    { key: `verifies_minute:${caller.ip}`, amount: 600, seconds: MINUTE },
    { key: `verifies_day:${caller.ip}`, amount: 20_000, seconds: DAY },
  ]);
  const guesses = wrongCodes(number, caller.ip);
  await limits.findFull(guesses);
  const claimed = await verification.claimAttempt(number, [hmac(number, caller.ip)], { asker: 5, others: 5 });
  const held = await limits.hold(guesses);
  if (!claimed?.hmac.equals(hmac(number, code))) return { code: 1000 };
  await limits.free(held);
  await limits.clear(`resend:${number}`);
  const token = newVerificationToken();
  await verification.exchange(claimed.id, phone, tokenHash(token), 1_800);
  await events.add({ event: 'code_verified', phone }, caller);
  return { code: 200, result: { verification_token: token } };
}

listenJson(async (req) => {
  const body = await json(req);
  const phone = { number: `+${body.region}${body.phone}`, region: String(body.region) };
  const caller = { ip: req.headers['x-forwarded-for'], userAgent: '', requestId: randomUUID() };
  return req.url === '/user/send_code' ? sendCode(phone, caller) : verifyCode(phone, caller, body.code);
});
