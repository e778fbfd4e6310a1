import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SECRETS, VARIABLES } from '../../src/config/variables';
import { unknownVariables } from '../../src/start/unknown-names';

const example = readFileSync(join(__dirname, '../../.env.example'), 'utf8');

describe('environment variables that the service does not know', () => {
  it.each([
    ['DATABSE_URL', 'DATABASE_URL'],
    ['SMS_PROVDER', 'SMS_PROVIDER'],
    ['SESSION_SECRET', 'SESSION_SECRETS'],
    ['TRUSTPROXY', 'TRUST_PROXY'],
    ['PUBLIC_ULR', 'PUBLIC_URL'],
    ['database_url', 'DATABASE_URL'],
    ['port', 'PORT'],
    ['DATABASE_URL_FLIE', 'DATABASE_URL_FILE'],
    ['NODE_EVN', 'NODE_ENV'],
    ['DATADIR', 'DATA_DIR'],
  ])('are reported with the name that is probably meant: %s', (name, meant) => {
    expect(unknownVariables({ [name]: 'hunter2' })).toEqual([
      `${name}: is not a setting of this service, and has no effect: did you mean ${meant}?`,
    ]);
  });

  it.each(['DATABASE_HOST', 'TWILIO_API_KEY', 'QINIU_REGION', 'SEND_CODE_PER_WEEK', 'CAPTCHA_SECRET_FILE'])(
    "are reported if their first word is one of the service's: %s",
    (name) => {
      const [line = ''] = unknownVariables({ [name]: 'hunter2' });
      expect(line).toMatch(new RegExp(`^${name}: is not a setting of this service`));
      expect(line).not.toContain('hunter2');
    },
  );

  it.each([
    'HOME',
    'PATH',
    'USER',
    'SHELL',
    'LANG',
    'TERM',
    'PWD',
    'HOSTNAME',
    'LOGNAME',
    'MAIL',
    'SORT',
    'TZ',
    'DISPLAY',
    'SESSION_MANAGER',
    'XDG_SESSION_ID',
    'NOTIFY_SOCKET',
    'NODE_OPTIONS',
    'NODE_PATH',
    'PGPASSWORD',
    'npm_config_x',
    'DATABASE_SERVICE_HOST',
    'DATABASE_PORT',
    'DATABASE_PORT_5432_TCP_ADDR',
    'DATABASE_SERVICE_PORT_POSTGRES',
  ])('are ignored if they belong to another program: %s', (name) => {
    expect(unknownVariables({ [name]: 'x' })).toEqual([]);
  });

  it('include no variable that .env.example or the service has', () => {
    const shown = example.match(/^(?:# )?[A-Z][A-Z0-9_]+(?==)/gm) ?? [];
    const names = [
      ...shown.map((name) => name.replace('# ', '')),
      ...VARIABLES,
      ...SECRETS.map((one) => `${one}_FILE`),
    ];
    expect(unknownVariables(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual([]);
  });
});
