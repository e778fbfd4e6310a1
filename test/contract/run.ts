import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, ServiceProcess } from '../support/service-process';

/**
 * npm run contract-fuzz: lets schemathesis send requests that docs/openapi.json allows and others, and looks for answers
 * that the document does not describe. It needs python3, and PyPI the first time.
 *   --examples=n   sends n requests of each kind to each operation
 *   --seed=n       repeats the requests of this seed
 */
const { values } = parseArgs({ options: { examples: { type: 'string', default: '20' }, seed: { type: 'string' } } });

const VERSION = '4.32.5';
const VENV = join(ROOT, '.cache', `schemathesis-${VERSION}`);
const PROGRAM = join(VENV, 'bin/schemathesis');

/**
 * Without the check that the service accepts all that fits the schema: no schema excludes invalid phones or too many
 * bytes.
 */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'unsupported_method',
  'allow_header_conformance',
  'ignored_auth',
];

/** Without the check of refusals: sync ignores unknown options, as the contract says. */
const LENIENT = CHECKS.filter((check) => check !== 'negative_data_rejection');

const SYNC = 'userSyncByVersion';
/** Ends its session, so it is tested with a session of its own. */
const LOGOUT = 'userLogout';
/** Not served by a service that draws captchas itself. */
const NOT_SERVED = 'captchaWidget';

const PHONE = { region: 44, phone: 7_400_123_456 };
/** Differs from the document's example, with which the account would be closed. */
const password = 'sesameopens';

/** Returns why it cannot run here. */
function missing(): string | undefined {
  if (existsSync(PROGRAM)) return undefined;
  if (spawnSync('python3', ['--version']).status !== 0) return 'there is no python3';
  if (spawnSync('python3', ['-m', 'venv', VENV]).status !== 0) return 'python3 has no venv';
  const { status } = spawnSync(join(VENV, 'bin/pip'), ['install', '--quiet', `schemathesis==${VERSION}`]);
  if (status === 0) return undefined;
  rmSync(VENV, { recursive: true });
  return `PyPI does not give schemathesis ${VERSION}`;
}

async function main(): Promise<void> {
  const why = missing();
  if (why !== undefined) {
    process.stdout.write(`contract-fuzz is skipped: ${why}\n`);
    return;
  }
  const dataDir = mkdtempSync(join(tmpdir(), 'accounts-contract-'));
  const service = ServiceProcess.start({ DATA_DIR: dataDir, SMS_PROVIDER: 'file', LOG_LEVEL: 'warn' });
  try {
    await service.untilReady();
    await register(service, dataDir);
    // The other requests use up the limit of logins.
    const place = { url: service.url, dataDir };
    const [session, another] = [await cookie(service), await cookie(service)];
    const exits = [
      fuzz(place, session, CHECKS, ...[SYNC, LOGOUT, NOT_SERVED].map((id) => `--exclude-operation-id=${id}`)),
      fuzz(place, session, LENIENT, `--include-operation-id=${SYNC}`),
      fuzz(place, another, CHECKS, `--include-operation-id=${LOGOUT}`),
    ];
    process.exitCode = Math.max(...exits);
  } finally {
    await service.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

interface Place {
  url: string;
  dataDir: string;
}

async function register(service: ServiceProcess, dataDir: string): Promise<void> {
  await service.post('/user/send_code', PHONE);
  const { code } = JSON.parse(readFileSync(join(dataDir, 'sms.ndjson'), 'utf8')) as { code: string };
  const verified = await service.post('/user/verify_code', { ...PHONE, code });
  const { result } = (await verified.json()) as { result: { verification_token: string } };
  await service.post('/user/register', { nickname: 'Ann', password, ...result });
}

async function cookie(service: ServiceProcess): Promise<string> {
  const answer = await service.post('/user/login', { ...PHONE, password });
  const [, sid] = /^sid=([^;]+)/.exec(answer.headers.getSetCookie()[0] ?? '') ?? [];
  if (sid === undefined) throw new Error(`no session: ${await answer.text()}`);
  return sid;
}

function fuzz({ url, dataDir }: Place, session: string, checks: string[], ...which: string[]): number {
  const config = join(dataDir, 'schemathesis.toml');
  writeFileSync(config, `[auth.openapi.sid]\napi_key = "${session}"\n`);
  const options = [
    '--config-file',
    config,
    'run',
    `${url}/openapi.json`,
    ...which,
    '--continue-on-failure',
    '--phases',
    'examples,coverage,fuzzing',
    '--max-examples',
    values.examples,
    '--checks',
    checks.join(),
    '--warnings',
    'off',
    '--workers',
    '2',
    ...(values.seed === undefined ? [] : ['--seed', values.seed]),
  ];
  return spawnSync(PROGRAM, options, { cwd: dataDir, stdio: 'inherit' }).status ?? 1;
}

void main();
