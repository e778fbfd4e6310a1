import { isPrivateHost } from '../features/profile/portrait-host';
import { SENDER_NAMES, SENDERS } from '../integrations/senders/kinds';
import type { Environment } from './variables';

/** Minimum of different characters in a secret. Secrets of openssl have more, a held-down key has one. */
const LEAST_CHARACTERS = 10;
const GUESSED_FIRST = /change.?me|pass.?word|secret|example|openssl|qwerty|123456|abcdef/i;
/** Maximum proxies in front: more than anyone has. */
const MOST_PROXIES = 10;

type Rule = [unfit: boolean, mistake: string];

/** Refuses, with remedies, defaults that make a first try easy but would harm real users in production. */
export function unfitForProduction(env: Environment): string[] {
  const overHttp = (
    name: 'CORS_ORIGINS' | 'IMAGES' | Extract<keyof Environment, `${string}_URL`>,
    why: string,
  ): Rule => {
    const addresses = [env[name] ?? []].flat();
    return [addresses.some((address) => address.startsWith('http:')), `${name}: must start with https://, ${why}`];
  };
  const rules: Rule[] = [
    [!env.DATABASE_URL, 'DATABASE_URL: set it, the embedded database is for development only'],
    [!env.SESSION_SECRETS, 'SESSION_SECRETS: set it, for example to what openssl rand -hex 32 prints'],
    [
      isForDevelopment(env),
      `SMS_PROVIDER: set it to one of ${reachingPhones()}, or name them in SMS_ROUTES, since console and file show every code to their readers`,
    ],
    [!env.STORAGE_PROVIDER, 'STORAGE_PROVIDER: set it to qiniu, or to local if one disk is enough'],
    [
      (env.MESSAGING_PROVIDER === 'jwt' || env.TOKEN_AUDIENCES.length > 0) && !env.MESSAGING_JWT_KEY,
      'MESSAGING_JWT_KEY: set it, for example to what openssl genpkey -algorithm ed25519 | base64 -w0 prints',
    ],
    [!env.PUBLIC_URL, 'PUBLIC_URL: set it to the https address that clients use'],
    overHttp('PUBLIC_URL', 'the session cookie travels over HTTPS only'),
    [
      env.TRUST_PROXY === undefined,
      'TRUST_PROXY: set it to the number of proxies in front (1 with the compose file), to their addresses, or to none',
    ],
    [
      env.SEND_CODE_PER_DAY === undefined,
      'SEND_CODE_PER_DAY: set it to the most messages a day that you will pay for (three for each new user a day), or to ' +
        '0 for no limit',
    ],
    [
      (env.SESSION_SECRETS ?? []).some(isGuessable),
      'SESSION_SECRETS: each needs to be random, openssl rand -hex 32 makes one',
    ],
    overHttp('SMS_HTTP_URL', 'codes are sent there'),
    overHttp('TWILIO_API_URL', 'codes and the account are sent there'),
    overHttp('WHATSAPP_API_URL', 'codes and the token are sent there'),
    overHttp('TELEGRAM_API_URL', 'codes and the token are sent there'),
    overHttp('RONGCLOUD_API_URL', 'it answers with the tokens of users'),
    overHttp('IMAGES', 'clients send their upload tokens there'),
    overHttp('QINIU_UPLOAD_URL', 'clients send their upload tokens there'),
    overHttp('CAPTCHA_VERIFY_URL', 'the secret key is sent there'),
    overHttp('CAPTCHA_SCRIPT_URL', 'anyone on the network path can change a script that is sent over HTTP'),
    overHttp('CORS_ORIGINS', 'anyone on the network path can change a page that is sent over HTTP'),
    [
      typeof env.TRUST_PROXY === 'number' && env.TRUST_PROXY > MOST_PROXIES,
      `TRUST_PROXY: must be at most ${MOST_PROXIES}, since clients could choose their address beyond the real proxies`,
    ],
    [
      env.OTEL_EXPORTER_OTLP_HEADERS !== undefined && collectorsOf(env).some(isReadOnTheWay),
      'OTEL_EXPORTER_OTLP_ENDPOINT: must start with https://, the key in OTEL_EXPORTER_OTLP_HEADERS is sent there',
    ],
    [env.BCRYPT_COST < 10, 'BCRYPT_COST: set it to 10 or more'],
  ];
  return rules.filter(([unfit]) => unfit).map(([, mistake]) => mistake);
}

/** Whether the provider shows codes. Routes may replace one that is not set, but not one that is. */
function isForDevelopment({ SMS_PROVIDER, SMS_ROUTES }: Environment): boolean {
  if (SMS_PROVIDER === undefined) return SMS_ROUTES === undefined;
  return SENDERS[SMS_PROVIDER].forDevelopment === true;
}

function reachingPhones(): string {
  return SENDER_NAMES.filter((name) => !SENDERS[name].forDevelopment).join(', ');
}

function collectorsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own }: Environment) {
  return [base, own].filter((address) => address !== undefined);
}

/** A host without a dot is in the network of the containers. */
function isReadOnTheWay(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && hostname.includes('.') && !isPrivateHost(hostname);
}

/** Returns whether a secret can be guessed: every user has a token signed with it, and can test guesses offline. */
export function isGuessable(secret: string): boolean {
  const isRepeated = /^(.{1,32})\1+.{0,16}$/.test(secret);
  return isRepeated || new Set(secret).size < LEAST_CHARACTERS || GUESSED_FIRST.test(secret);
}
