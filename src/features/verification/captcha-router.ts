import { Router } from 'express';
import { operation, type Operation } from '../../http/operation';
import type { PublicUrlOf } from '../../http/public-url';
import { get } from '../../http/route';
import type { CaptchaService } from './captcha-service';
import { newCaptcha } from './verification-schemas';

export function captchaRouter(captchas: CaptchaService, publicUrlOf: PublicUrlOf): Operation[] {
  return [
    operation({
      path: '/get_sms_img_code',
      summary: 'Makes a captcha, which raises the limits of send_code.',
      access: 'anyone',
      result: newCaptcha,
      refusals: { 429: 'too many checks from this address' },
      handle: async (_input, { caller, req }) => {
        const verifyId = await captchas.create(caller);
        return { url: `${publicUrlOf(req)}/captcha/${verifyId}.png`, verifyId };
      },
    }),
  ];
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
