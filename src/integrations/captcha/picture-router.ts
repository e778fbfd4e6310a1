import { Router } from 'express';
import { NotFound } from '../../errors';
import { get } from '../../http/route';
import type { DrawnCaptchas } from './drawn-captchas';

/** The pictures, which a client shows in an image view. */
export function pictureRouter(captchas: DrawnCaptchas): Router {
  const router = Router();

  get(router, '/:id.png', async (req, res) => {
    const image = await captchas.image(String(req.params.id));
    if (!image) throw new NotFound('no_such_captcha', 'no such captcha, or it has expired or been tried');
    // A web client on an origin of its own shows it too.
    res.set('Cross-Origin-Resource-Policy', 'cross-origin').type('image/png').send(image);
  });

  return router;
}
