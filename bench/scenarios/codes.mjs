import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { subject } from '../load.mjs';
import { compare, joined, rateRatio } from '../measure.mjs';
import { answerTo, GOOD, postPhone, REGION } from '../people.mjs';
import { startOwn, startService } from '../processes.mjs';

const FIRST_PHONE = 7_500_000_000;
/** More than any server here sends in a second. Each code goes to a new phone, which gets only one in a minute. */
const CODES_A_SECOND = 20_000;
/** Production mode refuses to put codes into a file. All else is as in production. */
const AS_IN_PRODUCTION = {
  NODE_ENV: 'development',
  SMS_PROVIDER: 'file',
  PHONE_CHECK: 'mobile',
  SEND_CODE_PER_IP_HOUR: '200',
  VERIFIES_PER_IP_MINUTE: '600',
  VERIFIES_PER_IP_DAY: '20000',
};

/** Rows as a day leaves them. With empty tables PostgreSQL would plan for empty tables, and keep those plans. */
const EARLIER_CODES = [
  `INSERT INTO rate_limits (key, used, amount, resets_at)
   SELECT limit_name || ':+44' || number, 1, 10, now() + interval '1 day'
     FROM generate_series(7600000000, 7600049999) AS number, unnest(ARRAY['send_per_phone', 'wrong_codes_p']) AS limit_name`,
  `INSERT INTO verification_codes (phone, code_hmac, expires_at)
   SELECT '+44' || number, sha256(number::text::bytea), now() FROM generate_series(7600000000, 7600049999) AS number`,
  // These numbers of sent and verified codes are usual, so that the spend guard does not report anything.
  `INSERT INTO sms_traffic (region, slot, sent, verified)
   SELECT 'GB', sms_traffic_slot(now() - number * interval '10 minutes'), 100000, 80000 FROM generate_series(2, 2016) AS number`,
];

export const title = 'Sending and verifying codes';

const titles = {
  'floor of send_code': 'floor of send_code: the same statements',
  'floor of verify_code': 'floor of verify_code: the same statements',
  send_code: 'POST /user/send_code',
  verify_code: 'POST /user/verify_code',
};

let phones = 0;

export async function run(bench) {
  await bench.postgres.fill('bench', EARLIER_CODES);
  const [floorFile, file] = ['floor', 'service'].map((name) => `${bench.folder}/sms-${name}.ndjson`);
  const env = { ...AS_IN_PRODUCTION, SMS_FILE: file };
  const floor = codesOf(bench, await startOwn(bench, 'codes-floor', { env: { SMS_FILE: floorFile } }), floorFile);
  const ours = codesOf(bench, await startService(bench, { env }), file);
  for (const { check } of [floor, ours]) await check();
  const target = (name) => [name, `${name}: requests/s, ratio to the floor`, 'at least', 0.4, rateRatio];
  const sent = await compare(bench, floor.sending, [ours.sending], [target('send_code')]);
  const verified = await compare(bench, floor.verifying, [ours.verifying], [target('verify_code')]);
  return { titles, ...joined([sent, verified]) };
}

/** Returns the load for a server that sends codes, and reads these from the server's file. */
function codesOf(bench, server, file) {
  let read = 0;
  const newCodes = () => {
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    const added = lines.slice(read).map((line) => JSON.parse(line));
    read = lines.length;
    return added;
  };
  // Every run has its own requests: a request that is sent twice would be refused, and fail the run of the benchmark.
  const underLoad = (name, requestsFor) => {
    const under = (requests) => subject(bench, server, name, requests, { expected: GOOD });
    return { ...under([]), run: (seconds) => under(requestsFor(seconds)).run(seconds) };
  };
  const firstCodes = (seconds) => Array.from({ length: CODES_A_SECOND * (seconds + 1) }, sendRequest);
  const sending = underLoad('send_code', firstCodes);
  // Codes are sent for twice as long before, so that there are enough to verify.
  const before = async (seconds) => {
    newCodes();
    await sending.run(2 * seconds);
    await sleep(300);
  };
  const verifying = { ...underLoad('verify_code', () => newCodes().map(verifyRequest)), before };
  return { sending, verifying, check: () => checkCodes(server, newCodes) };
}

async function checkCodes(server, newCodes) {
  const sent = await answerTo(server, sendRequest());
  const [{ to, code }] = newCodes();
  const refused = await answerTo(server, verifyRequest({ to, code: code === '000000' ? '000001' : '000000' }));
  const verified = await answerTo(server, verifyRequest({ to, code }));
  const isToken = typeof verified.body.result?.verification_token === 'string';
  if (sent.status !== 200 || verified.status !== 200 || refused.body.code === 200 || !isToken)
    throw new Error(`${server.name} gives wrong answers: ${JSON.stringify([sent, refused, verified])}`);
}

const sendRequest = () => request('send_code', String(FIRST_PHONE + (phones += 1)));

const verifyRequest = ({ to, code }) => request('verify_code', to.slice(`+${REGION}`.length), { code });

function request(operation, phone, rest) {
  return postPhone(Number(phone) - FIRST_PHONE, `/user/${operation}`, phone, rest);
}
