import { Router } from 'express';
import { jsonBody } from '../../http/body';
import { callerOf } from '../../http/caller';
import { ok, post, type Access } from '../../http/operation';
import { parse } from '../../http/parse';
import type { SendCodeService } from './send-code-service';
import { phone, sendCode, verifyCode } from './verification-schemas';
import type { VerifyCodeService } from './verify-code-service';

export function verificationRouter(sending: SendCodeService, verifying: VerifyCodeService, { anyone }: Access): Router {
  const router = Router();

  post(router, '/send_code', anyone, async (req, res) => {
    const { verifyId, verifyCode, ...to } = parse(sendCode, jsonBody(req));
    await sending.send(to, callerOf(req), { verifyId, verifyCode });
    ok(res);
  });

  post(router, '/verify_code', anyone, async (req, res) => {
    const { code, ...of } = parse(verifyCode, jsonBody(req));
    ok(res, { verification_token: await verifying.verify(of, code, callerOf(req)) });
  });

  post(router, '/check_phone_available', anyone, async (req, res) => {
    ok(res, await verifying.isPhoneAvailable(parse(phone, jsonBody(req)), callerOf(req)));
  });

  return router;
}
