import { Router, type ErrorRequestHandler } from 'express';
import {
  createImageServer,
  Refusal,
  WrongMethod,
  type Host,
  type ImageServer,
  type ImageServerOptions,
  type ImageServerDeps,
} from '../../../../packages/image-server/src';
import { AppError, MethodNotAllowed } from '../../../base/errors';
import { callerOf } from '../../../http/caller-of';
import { nameErrorAlso } from '../../../http/error-handler';
import type { PublicUrlOf } from '../../../http/public-url';

export type MountedDeps = Omit<ImageServerDeps, 'host'> & { publicUrlOf: PublicUrlOf };

/**
 * Mounts the image server as a part of this service, with the same callers, refusals and answers. `counts` also counts
 * the uploads that are refused, by reason.
 */
export function mountImageServer(
  options: ImageServerOptions,
  { publicUrlOf, ...deps }: MountedDeps,
): { server: ImageServer; router: Router } {
  const server = createImageServer(options, { ...deps, host: hostWith(publicUrlOf) });
  const router = Router();
  router.use(server.router, refuseAsOurs, countingRefused(deps.counts));
  return { server, router };
}

export function hostWith(publicUrlOf: PublicUrlOf): Host {
  return {
    callerOf,
    publicUrlOf,
    answerLikeQiniu: (req, res) => {
      res.set('X-Reqid', req.id);
      nameErrorAlso(res, 'error');
    },
  };
}

class ImageRefused extends AppError {}

/** Express recognises an error handler by its four parameters. */
export const refuseAsOurs: ErrorRequestHandler = (error: unknown, _req, _res, next) => {
  next(asOurs(error));
};

/** Counts refusals of uploads. A refused GET is that of an image. */
function countingRefused(counts: MountedDeps['counts']): ErrorRequestHandler {
  return (error: unknown, { method }, _res, next) => {
    if (method !== 'GET' && method !== 'HEAD') counts.add(error instanceof AppError ? error.reason : 'failed');
    next(error);
  };
}

function asOurs(error: unknown): unknown {
  if (error instanceof WrongMethod) return new MethodNotAllowed(error.allow);
  if (!(error instanceof Refusal)) return error;
  const { reason, message, cause, retryAfterSeconds } = error;
  return new ImageRefused(reason, message, { cause, retryAfterSeconds });
}
