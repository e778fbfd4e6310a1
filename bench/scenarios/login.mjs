import { availableParallelism } from 'node:os';
import { fileURLToPath, URL } from 'node:url';
import { atLeast } from '../checks.mjs';
import { outputOf } from '../load.mjs';
import { measureRounds, medianOf, subject } from '../measure.mjs';
import { PASSWORD, person, REGION, spread } from '../people.mjs';
import { answerTo } from '../readers.mjs';
import { proxied, startService } from '../service.mjs';

const CEILING = fileURLToPath(new URL('../servers/bcrypt-ceiling.mjs', import.meta.url));
const USERS = 5_000;
/** Code that runs forty times a second takes long to get hot. */
const WARM_UP_SECONDS = 40;
/** A wrong password is answered with status 200 too, and another code. */
const GOOD = '"code":200';

export const title = 'Logging in';

export async function run(bench) {
  return bench.withServers([() => startService(bench)], async (server) => {
    const login = await loginSubject(bench, server);
    const measured = await measureRounds(bench, ceiling, [login]);
    const rate = medianOf(measured.measurements, 'login', ({ ratio }) => ratio.rate);
    const titles = { floor: 'comparing passwords and nothing else, on all processors', login: 'POST /user/login' };
    const checks = [atLeast('logins/s, ratio to what bcrypt alone reaches', 0.9, rate)];
    return { titles, ...measured, checks };
  });
}

/** Right passwords of different users, each from an address of its own. */
export async function loginSubject(bench, server) {
  const requests = spread(bench.options.users, USERS).map((index) => loginRequest(index));
  const { status, body } = await answerTo(server.url, requests[0]);
  if (status !== 200 || body.result.id !== person(0).id) throw new Error(`login fails: ${status}`);
  // Passwords that are still waiting to be compared when the load has gone would take from whatever is measured next:
  // one more login has to wait for all of them.
  const settle = async () => void (await answerTo(server.url, requests[0]));
  const login = subject(bench, server, 'login', requests, { expected: GOOD });
  return { ...login, settle, ...(!bench.options.short && { warmUpSeconds: WARM_UP_SECONDS }) };
}

function loginRequest(index) {
  const body = JSON.stringify({ region: REGION, phone: person(index).digits, password: PASSWORD });
  return { method: 'POST', path: '/user/login', headers: proxied(index), body };
}

/** A process of its own for every run: it has no server, and ends with its time. */
const ceiling = {
  name: 'floor',
  pid: undefined,
  warmUpSeconds: 0,
  run: async (seconds) => {
    const env = { ...process.env, UV_THREADPOOL_SIZE: String(Math.max(4, availableParallelism())) };
    return JSON.parse(await outputOf(process.execPath, [CEILING, String(seconds)], { env }));
  },
};
