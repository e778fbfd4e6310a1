import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atLeast } from '../checks.mjs';
import { Load } from '../load.mjs';
import { measureRounds, medianOf, WARM_UP_SECONDS } from '../measure.mjs';
import { REGION } from '../people.mjs';
import { answerTo } from '../readers.mjs';
import { proxied, startOwn, startService } from '../service.mjs';

const FIRST_PHONE = 7_500_000_000;
/** More than any server here sends in a second: a phone gets no second code within a minute. */
const CODES_A_SECOND = 20_000;
/** A wrong code is answered with status 200 too. */
const GOOD = '"code":200';
/** Production mode refuses to put codes into a file. All else is as there. */
const AS_IN_PRODUCTION = {
  NODE_ENV: 'development',
  PHONE_CHECK: 'mobile',
  SEND_CODE_PER_IP_HOUR: '200',
  CHECKS_PER_IP_MINUTE: '600',
  CHECKS_PER_IP_DAY: '20000',
};

export const title = 'Sending and verifying codes';

export async function run(bench) {
  await bench.postgres.connected('bench', seedEarlierCodes);
  const smsFile = (name) => join(bench.folder, `sms-${name}.ndjson`);
  const env = { ...AS_IN_PRODUCTION, SMS_PROVIDER: 'file', SMS_FILE: smsFile('service') };
  const starts = [
    () => startOwn(bench, 'codes-floor', { env: { SMS_FILE: smsFile('floor') } }),
    () => startService(bench, { env }),
  ];
  return bench.withServers(starts, async (bare, server) => {
    const floor = new Codes(bench, bare, smsFile('floor'));
    const ours = new Codes(bench, server, smsFile('service'));
    for (const one of [floor, ours]) await one.check();
    const sent = await measureRounds(bench, floor.sending(), [ours.sending()]);
    const verified = await measureRounds(bench, floor.verifying(), [ours.verifying()]);
    const measurements = [...sent.measurements, ...verified.measurements];
    const rate = (name) => medianOf(measurements, name, ({ ratio }) => ratio.rate);
    const checks = [
      atLeast('send_code: requests/s, ratio to the floor', 0.4, rate('send_code')),
      atLeast('verify_code: requests/s, ratio to the floor', 0.4, rate('verify_code')),
    ];
    return { titles, measurements, thrownOut: [...sent.thrownOut, ...verified.thrownOut], checks };
  });
}

/** What a day leaves in these tables: with nothing in them PostgreSQL would plan for nothing, and keep to it. */
async function seedEarlierCodes(client) {
  await client.query(
    `INSERT INTO rate_limits (key, used, amount, resets_at)
     SELECT limit_name || ':+44' || number, 1, 10, now() + interval '1 day'
       FROM generate_series(7600000000, 7600049999) AS number, unnest(ARRAY['send_per_phone', 'wrong_codes_p']) AS limit_name`,
  );
  await client.query(
    `INSERT INTO verification_codes (phone, code_hmac, expires_at)
     SELECT '+44' || number, sha256(number::text::bytea), now() FROM generate_series(7600000000, 7600049999) AS number`,
  );
  await client.query('VACUUM ANALYZE');
}

const titles = {
  'floor of send_code': 'floor of send_code: the same statements',
  'floor of verify_code': 'floor of verify_code: the same statements',
  send_code: 'POST /user/send_code',
  verify_code: 'POST /user/verify_code',
};

let phones = 0;

/** A server that sends codes, and the file that they are read from. */
class Codes {
  constructor(bench, server, file) {
    Object.assign(this, { bench, server, file, read: 0 });
  }

  /** First codes for phones that nobody has used. */
  sending() {
    const run = (seconds) => this.under(Array.from({ length: CODES_A_SECOND * (seconds + 1) }, sendRequest), seconds);
    return { name: 'send_code', pid: this.server.pid, warmUpSeconds: WARM_UP_SECONDS, run };
  }

  /** The exchange of codes that were sent for twice as long before: there must be enough of them. */
  verifying() {
    const before = async (seconds) => {
      this.newCodes();
      await this.sending().run(2 * seconds);
      await sleep(300);
    };
    const run = (seconds) => this.under(this.newCodes().map(verifyRequest), seconds);
    return { name: 'verify_code', pid: this.server.pid, warmUpSeconds: WARM_UP_SECONDS, before, run };
  }

  /** A request that is sent a second time would be refused, and fail the run of the benchmark. */
  async under(requests, seconds) {
    const load = new Load(this.bench, { url: this.server.url, requests, expected: GOOD });
    try {
      return await load.run(seconds);
    } finally {
      rmSync(load.file, { force: true });
    }
  }

  async check() {
    const send = sendRequest();
    const answers = [await answerTo(this.server.url, send)];
    const [sent] = this.newCodes();
    const wrong = verifyRequest({ ...sent, code: sent.code === '000000' ? '000001' : '000000' });
    const refused = await answerTo(this.server.url, wrong);
    answers.push(await answerTo(this.server.url, verifyRequest(sent)));
    const token = answers[1].body.result?.verification_token;
    if (answers.some(({ status }) => status !== 200) || refused.body.code === 200 || typeof token !== 'string')
      throw new Error(`${this.server.name} gives wrong answers: ${JSON.stringify([...answers, refused])}`);
  }

  /** What has come into the file since it was last looked at. */
  newCodes() {
    const lines = readFileSync(this.file, 'utf8').trim().split('\n');
    const added = lines.slice(this.read).map((line) => JSON.parse(line));
    this.read = lines.length;
    return added;
  }
}

function sendRequest() {
  phones += 1;
  return request('send_code', { phone: String(FIRST_PHONE + phones) });
}

function verifyRequest({ to, code }) {
  return request('verify_code', { phone: to.slice(`+${REGION}`.length), code });
}

/** Each phone from an address of its own. */
function request(operation, { phone, ...rest }) {
  const headers = { ...proxied(Number(phone) - FIRST_PHONE), 'Content-Type': 'application/json' };
  return {
    method: 'POST',
    path: `/user/${operation}`,
    headers,
    body: JSON.stringify({ region: REGION, phone, ...rest }),
  };
}
