import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atLeast, noErrors } from '../checks.mjs';
import { Load } from '../load.mjs';
import { compared, CONNECTIONS, measure, medianOf, undisturbed } from '../measure.mjs';
import { REGION } from '../people.mjs';
import { answerTo } from '../readers.mjs';
import { startOwn, startService } from '../service.mjs';

const FIRST_PHONE = 7_500_000_000;
/** More than any server here sends in a second: a phone gets no second code within a minute. */
const CODES_A_SECOND = 20_000;
/** A wrong code is answered with status 200 too. */
const GOOD = '"code":200';

export const title = 'Sending and verifying codes';

/** Not in production mode, which refuses to put codes into a file; the limits by address are off outside of it. */
export async function run(bench) {
  await bench.postgres.connected('bench', seedEarlierCodes);
  const smsFile = (name) => join(bench.folder, `sms-${name}.ndjson`);
  const service = { NODE_ENV: 'development', SMS_PROVIDER: 'file', SMS_FILE: smsFile('service') };
  const starts = [
    () => startOwn(bench, 'codes-floor', { env: { SMS_FILE: smsFile('floor') } }),
    () => startService(bench, { env: service }),
  ];
  return bench.withServers(starts, async (bare, server) => {
    const floor = new Codes(bench, bare, smsFile('floor'));
    const ours = new Codes(bench, server, smsFile('service'));
    for (const one of [floor, ours]) {
      await one.check();
      await one.measure();
    }
    const measurements = [];
    const thrownOut = [];
    let before = await floor.measure();
    for (let round = 0; round < bench.options.rounds; round += 1) {
      const measured = await undisturbed(bench, thrownOut, async () => {
        const figures = await ours.measure();
        const after = await floor.measure();
        const names = Object.keys(figures);
        const result = names.map((name) => compared(name, figures[name], before[name], after[name]));
        before = after;
        return result;
      });
      measurements.push(...measured);
    }
    const rate = (name) => medianOf(measurements, name, ({ ratio }) => ratio.rate);
    const checks = [
      atLeast('send_code: requests/s, ratio to the floor', 0.4, rate('send_code')),
      atLeast('verify_code: requests/s, ratio to the floor', 0.4, rate('verify_code')),
      noErrors([...measurements, ...thrownOut]),
    ];
    return { title, titles, measurements, thrownOut, checks };
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

  /** First codes for phones that nobody has used, then the exchange of these codes: for half the time, so that they last. */
  async measure() {
    const { seconds } = this.bench.options;
    const numbers = Array.from({ length: CODES_A_SECOND * (seconds + 1) }, newPhone);
    const sent = await this.under(
      numbers.map((phone) => request('send_code', { phone })),
      seconds,
    );
    await sleep(300);
    const verified = await this.under(
      this.newCodes().map((code) => request('verify_code', code)),
      Math.ceil(seconds / 2),
    );
    return { send_code: sent, verify_code: verified };
  }

  async under(requests, seconds) {
    const { folder } = this.bench;
    const load = new Load({ folder, url: this.server.url, requests, connections: CONNECTIONS, expected: GOOD });
    const subject = { pid: this.server.pid, run: (time) => load.run(time) };
    const figures = await measure(this.bench, subject, seconds);
    rmSync(load.file, { force: true });
    // A code that is tried a second time is no failure of the server's.
    return load.isUsedUp ? { ...figures, isUsedUp: true, errors: 0 } : figures;
  }

  async check() {
    const phone = newPhone();
    const answers = [await answerTo(this.server.url, request('send_code', { phone }))];
    const [sent] = this.newCodes();
    const wrong = sent.code === '000000' ? '000001' : '000000';
    const refused = await answerTo(this.server.url, request('verify_code', { phone, code: wrong }));
    answers.push(await answerTo(this.server.url, request('verify_code', sent)));
    const token = answers[1].body.result?.verification_token;
    if (answers.some(({ status }) => status !== 200) || refused.body.code === 200 || typeof token !== 'string')
      throw new Error(`${this.server.name} gives wrong answers: ${JSON.stringify([...answers, refused])}`);
  }

  /** What has come into the file since it was last looked at. */
  newCodes() {
    const lines = readFileSync(this.file, 'utf8').trim().split('\n');
    const added = lines.slice(this.read).map((line) => JSON.parse(line));
    this.read = lines.length;
    return added.map(({ to, code }) => ({ phone: to.slice(`+${REGION}`.length), code }));
  }
}

function newPhone() {
  phones += 1;
  return String(FIRST_PHONE + phones);
}

function request(operation, body) {
  return { method: 'POST', path: `/user/${operation}`, body: JSON.stringify({ region: REGION, ...body }) };
}
