import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { e164, field, newPassword, newPhone } from './people';
import { rememberSecret } from './secrets';
import type { ServiceProcess } from './service-process';

/** Signs a new user up with send_code and uses the service, which writes its messages to a file in its DATA_DIR. */
export async function walkThrough(service: ServiceProcess, dataDir: string): Promise<void> {
  const phone = newPhone();
  const call = async (path: string, body: object = {}, cookie = '') => {
    const answer = await fetch(`${service.url}/user/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { cookie },
    });
    const told: unknown = await answer.json();
    expect({ path, told }).toMatchObject({ path, told: { code: 200 } });
    return { result: field(told, 'result'), cookies: answer.headers.getSetCookie() };
  };

  await call('send_code', phone);
  const code = rememberSecret(codeFor(e164(phone), dataDir));
  const verified = await call('verify_code', { ...phone, code });
  const verification_token = rememberSecret(String(field(verified.result, 'verification_token')));
  const password = newPassword();
  await call('register', { nickname: 'Ann', password, verification_token });
  const login = await call('login', { ...phone, password });
  rememberSecret(String(field(login.result, 'token')));
  const cookie = rememberSecret(login.cookies.map((one) => one.split(';')[0]).join('; '));

  await call('set_nickname', { nickname: 'Anna' }, cookie);
  expect((await call('groups', {}, cookie)).result).toEqual([]);
  const synced = await call('sync/0', {}, cookie);
  expect(field(field(synced.result, 'user'), 'nickname')).toBe('Anna');
  await call('change_password', { oldPassword: password, newPassword: newPassword() }, cookie);
  await call('logout', {}, cookie);
}

function codeFor(phone: string, dataDir: string): string {
  const lines = readFileSync(join(dataDir, 'sms.ndjson'), 'utf8').trimEnd().split('\n');
  const line = lines.findLast((one) => one.includes(`"${phone}"`)) ?? '{}';
  return String((JSON.parse(line) as { code?: string }).code);
}
