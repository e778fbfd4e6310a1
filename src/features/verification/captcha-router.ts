import { Router } from 'express';
import { callerOf } from '../../http/caller';
import { get, ok, post, type Access } from '../../http/operation';
import type { PublicUrlOf } from '../../http/public-url';
import type { CaptchaService } from './captcha-service';

export function captchaRouter(captchas: CaptchaService, publicUrlOf: PublicUrlOf, { anyone }: Access): Router {
  const router = Router();

  post(router, '/get_sms_img_code', anyone, async (req, res) => {
    const verifyId = await captchas.create(callerOf(req));
    ok(res, { url: `${publicUrlOf(req)}/captcha/${verifyId}.png`, verifyId });
  });

  return router;
}

/** The pictures themselves, outside /user: a client shows them in an image view. */
export function captchaImageRouter(captchas: CaptchaService): Router {
  const router = Router();

  get(router, '/:id.png', async (req, res) => {
    const image = await captchas.image(String(req.params.id));
    // A web client on an origin of its own shows it too.
    res.set('Cross-Origin-Resource-Policy', 'cross-origin').type('image/png').send(image);
  });

  return router;
}
