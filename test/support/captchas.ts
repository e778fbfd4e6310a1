import type { TestApp } from './app';
import { postUntilServed } from './calls';
import { field } from './people';
import { rememberSecret } from './secrets';

/** Gets a captcha that the service draws, with its solution from the database. */
export async function solvedCaptcha(on: TestApp, headers: Record<string, string> = {}) {
  const { body } = await postUntilServed(on.api, '/user/get_sms_img_code', {}, headers);
  const verifyId = String(field(field(body, 'result'), 'verifyId'));
  const row = await on.db('captchas').where({ id: verifyId }).first<{ answer: string }>('answer');
  return { verifyId, verifyCode: rememberSecret(row.answer) };
}
