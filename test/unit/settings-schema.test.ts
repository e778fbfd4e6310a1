import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { parse as parseEnv } from 'dotenv';
import { parse } from 'yaml';

const read = (file: string) => readFileSync(join(__dirname, '../..', file), 'utf8');
const ajv = addFormats(new Ajv({ strict: false }));
const isFit = ajv.compile(JSON.parse(read('docs/settings.schema.json')) as object);
const inOverride = (environment: object) => isFit({ services: { service: { environment } } });

describe('docs/settings.schema.json', () => {
  it('accepts the compose file, and a ConfigMap with all defaults', () => {
    isFit(parse(read('docker-compose.yml'), { merge: true }));
    expect(isFit.errors).toBeNull();
    isFit({ data: parseEnv(read('.env.example')) });
    expect(isFit.errors).toBeNull();
    expect(inOverride({ PORT: 8080, TRUST_PROXY: 1, SESSION_SECRETS_FILE: '/run/secrets/s', DATABASE_URL: null })).toBe(
      true,
    );
  });

  it.each([{ SMS_PROVIDER: 'pigeon' }, { PORT: 'http' }, { TWILIO_AUTH_TOKEN: 'x' }, { IMAGES: 'there' }])(
    'refuses %j',
    (environment) => {
      expect([inOverride(environment), isFit({ data: environment })]).toEqual([false, false]);
    },
  );
});
