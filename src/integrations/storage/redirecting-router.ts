import { Router, type RequestHandler } from 'express';
import { IMAGE_PATH, RESUMABLE_PATHS, UPLOAD_PATHS } from '../../../packages/image-server/src';
import { get, post } from '../../http/route';

// 307 keeps the method and the body.
const redirectTo =
  (addressOf: (path: string) => string): RequestHandler =>
  (req, res) => {
    res.redirect(307, addressOf(req.originalUrl));
  };

/** Redirects uploads to Qiniu, so that clients have one address for both kinds of storage. */
export function qiniuUploadRouter(uploadUrl: string): Router {
  const router = Router();
  for (const path of UPLOAD_PATHS)
    post(
      router,
      path,
      redirectTo(() => uploadUrl),
    );
  return router;
}

/** Redirects uploads, and requests for images, to a separate image server. */
export function imageServerRouter(address: string): Router {
  const router = Router();
  const there = redirectTo((path) => address.replace(/\/+$/, '') + path);
  for (const path of UPLOAD_PATHS) post(router, path, there);
  get(router, IMAGE_PATH, there);
  router.use(RESUMABLE_PATHS, there);
  return router;
}
