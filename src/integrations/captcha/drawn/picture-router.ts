import { Router } from 'express';
import { z } from 'zod';
import { NotFound } from '../../../base/errors';
import type { Endpoint } from '../../../http/endpoint';
import { get } from '../../../http/route';
import type { DrawnCaptchas } from './captchas';

export const picture: Endpoint = {
  method: 'get',
  path: '/captcha/:id.png',
  name: 'captchaPicture',
  summary: 'The picture of a captcha, once get_sms_img_code has made it.',
  params: z.object({ id: z.string().meta({ examples: ['Zm9vYmFyYmF6cXV4MTIzNA'] }) }),
  answer: { type: 'image/png' },
  refusals: ['no_such_captcha', 'overloaded'],
};

/** Serves the pictures, which clients show in an image view. */
export function pictureRouter(captchas: DrawnCaptchas): Router {
  const router = Router();

  get(router, '/:id.png', async (req, res) => {
    const image = await captchas.image(String(req.params.id));
    if (!image) throw new NotFound('no_such_captcha', 'no such captcha, or it has expired or been tried');
    // A web client on another origin shows it too.
    res.set('Cross-Origin-Resource-Policy', 'cross-origin').type('image/png').send(image);
  });

  return router;
}
