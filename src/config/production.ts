import type { Environment } from './variables';

/** Different ones in a secret: what openssl makes has more, a letter that is held down has one. */
const LEAST_CHARACTERS = 10;
const GUESSED_FIRST = /change.?me|pass.?word|secret|example|openssl|qwerty|123456|abcdef/i;
/** Nobody has more in front. */
const MOST_PROXIES = 10;

type Rule = [unfit: boolean, mistake: string];

/** Defaults that make a first try easy would harm real users. In production each is refused, with its remedy. */
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
      env.SMS_PROVIDER !== 'twilio',
      'SMS_PROVIDER: set it to twilio, console and file show every code to whoever reads them',
    ],
    [!env.STORAGE_PROVIDER, 'STORAGE_PROVIDER: set it to qiniu, or to local if one disk is enough'],
    [
      env.MESSAGING_PROVIDER === 'jwt' && !env.MESSAGING_JWT_KEY,
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
      'SEND_CODE_PER_DAY: set it to the messages a day that you pay for at most (three for each new user a day), or to 0 ' +
        'for no bound',
    ],
    [
      (env.SESSION_SECRETS ?? []).some(isGuessable),
      'SESSION_SECRETS: each needs to be random, openssl rand -hex 32 makes one',
    ],
    overHttp('TWILIO_API_URL', 'codes and the account are sent there'),
    overHttp('RONGCLOUD_API_URL', 'it answers with the tokens of users'),
    overHttp('IMAGES', 'clients send their upload tokens there'),
    overHttp('QINIU_UPLOAD_URL', 'clients send their upload tokens there'),
    overHttp('CAPTCHA_VERIFY_URL', 'the secret key is sent there'),
    overHttp('CAPTCHA_SCRIPT_URL', 'anybody on the way can change a script that comes over HTTP'),
    overHttp('CORS_ORIGINS', 'anybody on the way can change a page that comes over HTTP'),
    [
      typeof env.TRUST_PROXY === 'number' && env.TRUST_PROXY > MOST_PROXIES,
      `TRUST_PROXY: must be at most ${MOST_PROXIES}, clients choose their address beyond the proxies there are`,
    ],
    [env.BCRYPT_COST < 10, 'BCRYPT_COST: set it to 10 or more'],
  ];
  return rules.filter(([unfit]) => unfit).map(([, mistake]) => mistake);
}

/** Any user has a token that is signed with it, and can try at home what it may be. */
function isGuessable(secret: string): boolean {
  const isRepeated = /^(.{1,32})\1+.{0,16}$/.test(secret);
  return isRepeated || new Set(secret).size < LEAST_CHARACTERS || GUESSED_FIRST.test(secret);
}
