import { availableParallelism } from 'node:os';
import { root } from '../../scripts/launch/dependencies.mjs';
import { outputOf, subject } from '../load.mjs';
import { compare, rateRatio } from '../measure.mjs';
import { answerTo, GOOD, PASSWORD, person, postPhone, spread } from '../people.mjs';
import { builds, startService } from '../processes.mjs';

const CEILING = `${root}/bench/servers/bcrypt-ceiling.mjs`;
const USERS = 5_000;
/** Code that runs forty times a second takes long until Node compiles it. */
const WARM_UP_SECONDS = 40;

export const title = 'Logging in';

export async function run(bench) {
  const logins = [];
  for (const { folder, ending } of builds(bench)) {
    const login = await loginSubject(bench, await startService(bench, { folder }));
    logins.push({ ...login, name: `login${ending}` });
  }
  const titles = { floor: 'comparing passwords and nothing else, on all processors', login: 'POST /user/login' };
  const target = ['login', 'logins/s, ratio to bcrypt by itself', 'at least', 0.95, rateRatio];
  return { titles, ...(await compare(bench, ceiling, logins, [target])) };
}

export async function loginSubject(bench, server) {
  const request = (index) => postPhone(index, '/user/login', person(index).phone, { password: PASSWORD });
  const requests = spread(bench.options.users, USERS).map(request);
  const { status, body } = await answerTo(server, requests[0]);
  if (status !== 200 || body.result.id !== person(0).id) throw new Error(`login fails: ${status}`);
  // Passwords that still wait to be compared after the load would slow the next measurement. One more login waits for
  // all of them.
  const settle = () => answerTo(server, requests[0]);
  const login = subject(bench, server, 'login', requests, { expected: GOOD });
  return { ...login, settle, ...(!bench.options.short && { warmUpSeconds: WARM_UP_SECONDS }) };
}

/** It starts a process for every run. This process has no server, and ends by itself when its time is over. */
const ceiling = {
  name: 'floor',
  pids: [],
  warmUpSeconds: 0,
  run: async (seconds) => {
    const env = { ...process.env, UV_THREADPOOL_SIZE: String(Math.max(4, availableParallelism())) };
    return JSON.parse(await outputOf(process.execPath, [CEILING, seconds], { env }));
  },
};
