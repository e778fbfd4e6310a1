import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express, { type ErrorRequestHandler, type Router } from 'express';
import { AppError } from '../../src/errors';
import { localImageRouter } from '../../src/integrations/storage/local-image-router';
import { LocalImageStorage } from '../../src/integrations/storage/local-image-storage';
import { form, type Part } from '../support/images';

export const SECRET = 'a secret of this server alone';
export const MAX_BYTES = 100_000;

export interface RunningServer {
  url: string;
  close(): Promise<void>;
}

export interface ImageServer extends RunningServer {
  directory: string;
  storage: LocalImageStorage;
  /** Every file below the directory, wherever it lies. */
  files(): Promise<string[]>;
}

/** The smallest app that can stand around the router: no session, no log, the error handler's essence. */
export async function serve(router: Router): Promise<RunningServer> {
  const app = express();
  app.use(router);
  const answerError: ErrorRequestHandler = (error, _req, res, _next) => {
    const status = error instanceof AppError ? error.status : 500;
    res.status(status).json({ code: status, message: String(error) });
  };
  app.use(answerError);
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

export async function startImageServer({ maxBytes = MAX_BYTES, uploadTimeoutMs = 5_000 } = {}): Promise<ImageServer> {
  const root = await mkdtemp(join(tmpdir(), 'images-'));
  const directory = join(root, 'uploads');
  const storage = new LocalImageStorage({ directory, secret: SECRET, maxBytes });
  const server = await serve(localImageRouter(storage, { uploadTimeoutMs }));
  return {
    ...server,
    directory,
    storage,
    async files() {
      const entries = await readdir(root, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
    },
    async close() {
      await server.close();
      await rm(root, { recursive: true });
    },
  };
}

export interface Answer {
  status: number;
  json: unknown;
}

export async function post(url: string, parts: Part[]): Promise<Answer> {
  const { headers, body } = form(parts);
  // A Blob, unlike a Buffer, can be sent again when a redirect asks for it.
  const response = await fetch(url, { method: 'POST', headers, body: new Blob([new Uint8Array(body)]) });
  return { status: response.status, json: await response.json() };
}
