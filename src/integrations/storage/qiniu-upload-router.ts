import { Router } from 'express';
import { post } from '../../http/route';
import { UPLOAD_PATHS } from './image-storage';

/** Sends uploads that come to this service on to Qiniu, so that clients have one address for both kinds of storage. */
export function qiniuUploadRouter(uploadUrl: string): Router {
  const router = Router();

  for (const path of UPLOAD_PATHS)
    post(router, path, (_req, res) => {
      // 307 keeps the method and the body.
      res.redirect(307, uploadUrl);
    });

  return router;
}
