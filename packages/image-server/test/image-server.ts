import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express, { type Router } from 'express';
import { createLogger } from '../../../src/base/logger';
import { REASONS, type Reason } from '../../../src/base/reasons';
import { findSender } from '../../../src/http/client-address';
import { errorHandler, failWith } from '../../../src/http/error-handler';
import { publicUrlFrom } from '../../../src/http/public-url';
import { sameHeaders } from '../../../src/http/head';
import { requestLog } from '../../../src/http/request-log';
import type { ImageBook, ImageEntry, ImageName } from '../src/image-book';
import { ImageRewriter } from '../src/image-rewriter';
import { imageRouter } from '../src/image-router';
import { ImageStore, type StoreOptions } from '../src/image-store';
import { signUploadToken } from '../src/upload-token';
import { hasCode, Refusal } from '../src/errors';
import { hostWith, refuseAsOurs } from '../../../src/integrations/storage/local/mounted-image-server';
import { openQueues } from '../../../src/load/queues';
import { multipartForm, type Part } from '../../../test/support/images';
import { PATIENCE, PATIENT_MS } from '../../../test/support/patience';

export const SECRET = 'a secret of only this server';
export const MAX_BYTES = 100_000;

export interface RunningServer {
  url: string;
  cutOff(): void;
  close(): Promise<void>;
}

export interface ImageServer extends RunningServer {
  directory: string;
  storage: ImageStore;
  book: OpenBook;
  tokenOf(userId: string): string;
  /** Returns all files below the directory, at any depth. */
  files(): Promise<string[]>;
}

/** Accepts images of all users. The limits of real accounts are tested with the database. */
export class OpenBook implements ImageBook {
  readonly hashes = new Map<string, string>();
  unused: ImageName[] = [];

  async admit(): Promise<void> {}

  async admitPart(): Promise<void> {}

  async charge(): Promise<void> {}

  async enter({ userId, name, hash }: ImageEntry): Promise<'new' | 'known'> {
    const key = `${userId}/${name}`;
    const known = this.hashes.get(key);
    if (known !== undefined && known !== hash) throw new Refusal('key_taken', 'key: holds another image');
    this.hashes.set(key, hash);
    return known === undefined ? 'new' : 'known';
  }

  async has({ userId, name }: ImageName): Promise<boolean> {
    return this.hashes.has(`${userId}/${name}`);
  }

  async remove({ userId, name }: ImageName): Promise<void> {
    this.hashes.delete(`${userId}/${name}`);
  }

  async adopt(images: ImageEntry[]): Promise<void> {
    for (const { userId, name, hash } of images) this.hashes.set(`${userId}/${name}`, hash);
  }

  async removeUnused(): Promise<{ checked: number; removed: ImageName[] }> {
    const removed = this.unused.splice(0);
    for (const image of removed) await this.remove(image);
    return { checked: removed.length, removed };
  }
}

/** The smallest app that can mount the router: no sessions, no log. Tests act as proxies that it trusts. */
export async function serve(router: Router): Promise<RunningServer> {
  const app = express().set('trust proxy', 'loopback');
  const logger = createLogger('silent', { write: () => {} });
  app.use(requestLog(logger), sameHeaders, findSender(logger));
  app.use(router, refuseAsOurs);
  app.use(errorHandler(failWith(logger)));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    cutOff: () => server.closeAllConnections(),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

interface Options extends Partial<StoreOptions> {
  rewriter?: ImageRewriter;
  uploadTimeoutMs?: number;
  tokenTimeoutMs?: number;
}

export async function startImageServer({
  uploadTimeoutMs = PATIENT_MS,
  tokenTimeoutMs = PATIENT_MS,
  rewriter = new ImageRewriter(openQueues(PATIENCE).decoding),
  ...options
}: Options = {}): Promise<ImageServer> {
  const root = await mkdtemp(join(tmpdir(), 'images-'));
  const directory = join(root, 'uploads');
  const book = new OpenBook();
  const defaults = { directory, secrets: [SECRET], maxBytes: MAX_BYTES, maxBytesPerUser: 0, minFreeBytes: 0 };
  const all = { ...defaults, ...options };
  const { secrets, maxBytes } = all;
  const storage = new ImageStore(all, book, rewriter, { add: () => undefined });
  const server = await serve(
    imageRouter(storage, openQueues(PATIENCE), hostWith(publicUrlFrom(undefined)), { uploadTimeoutMs, tokenTimeoutMs }),
  );
  return {
    ...server,
    directory,
    storage,
    book,
    tokenOf: (userId) => tokenWith(secrets[0] ?? '', userId, maxBytes),
    files: () => filesIn(root),
    async close() {
      await server.close();
      await storage.close();
      await rm(root, { recursive: true });
    },
  };
}

/** Signs a token as the accounts do. */
export function tokenWith(secret: string, userId: string, maxBytes = MAX_BYTES): string {
  return signUploadToken(secret, { userId, credentialsVersion: 0 }, maxBytes);
}

/** Finds files. The server may remove a folder at the same time. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  });
  const found: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    found.push(...(entry.isDirectory() ? await filesIn(path) : [path]));
  }
  return found;
}

export interface Answer {
  status: number;
  json: unknown;
  headers: Headers;
}

export async function post(url: string, parts: Part[]): Promise<Answer> {
  const { headers, body } = multipartForm(parts);
  // A Blob, unlike a Buffer, can be sent again when a redirect asks for it.
  const response = await fetch(url, { method: 'POST', headers, body: new Blob([new Uint8Array(body)]) });
  return reasoned({ status: response.status, json: await response.json(), headers: response.headers });
}

/** Expects each refusal to have a reason with its status, in the header too. */
export function reasoned<T extends Answer>(answer: T): T {
  const { code, reason } = answer.json as { code?: number; reason?: Reason };
  if (code === undefined) return answer;
  expect(reason && REASONS[reason].code).toBe(answer.status);
  expect(answer.headers.get('X-Reason')).toBe(reason);
  return answer;
}
