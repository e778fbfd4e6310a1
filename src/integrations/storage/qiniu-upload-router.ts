import { Router } from 'express';
import { post } from '../../http/operation';

/** Lets a client upload to this service's own address whatever the storage is: here the upload goes on to Qiniu. */
export function qiniuUploadRouter(uploadUrl: string): Router {
  const router = Router();

  post(router, '/', [], (_req, res) => {
    // 307 keeps the method and the body.
    res.redirect(307, uploadUrl);
  });

  return router;
}
