import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { Refusal } from './errors';
import { uploadPolicy } from './upload-policy';

const ACCESS_KEY = 'local';
export const BUCKET = 'local';

/** The user that a token is for. */
export interface Uploader {
  userId: string;
  /** Grows with each new password, which revokes earlier tokens. */
  credentialsVersion: number;
}

/** The content of a valid token. */
export interface UploadGrant extends Uploader {
  maxBytes: number;
}

const policyFields = z.object({
  scope: z.string().regex(new RegExp(`^${BUCKET}:[A-Za-z0-9_-]{1,64}/$`)),
  deadline: z.number(),
  fsizeLimit: z.number(),
  /** Our own field: a change of the password revokes the token. */
  credentialsVersion: z.number(),
});

/** Signs a token in Qiniu's form, `access key:signature:policy`, so that Qiniu's SDKs accept it. */
export function signUploadToken(secret: string, { userId, credentialsVersion }: Uploader, maxBytes: number): string {
  const policy = encode(JSON.stringify({ ...uploadPolicy(BUCKET, userId, maxBytes), credentialsVersion }));
  return `${ACCESS_KEY}:${encode(signature(secret, policy))}:${policy}`;
}

/** Verifies a token that any of the secrets may have signed. */
export function verifyUploadToken(secrets: string[], token: string): UploadGrant {
  const [accessKey, sign, encodedPolicy, ...more] = token.split(':');
  if (sign === undefined || encodedPolicy === undefined || more.length > 0) throw refused();
  // Compares the text, not the decoded bytes: base64 has several spellings for the same bytes.
  const isSigned = secrets.some((secret) => isSameText(sign, encode(signature(secret, encodedPolicy))));
  if (accessKey !== ACCESS_KEY || !isSigned) throw refused();
  const policy = policyFields.safeParse(JSON.parse(Buffer.from(encodedPolicy, 'base64url').toString()));
  if (!policy.success) throw refused();
  const { scope, deadline, fsizeLimit, credentialsVersion } = policy.data;
  if (deadline * 1000 <= Date.now())
    throw new Refusal('upload_token_expired', 'token: has expired, ask for another one');
  return { userId: scope.slice(BUCKET.length + 1, -1), credentialsVersion, maxBytes: fsizeLimit };
}

function refused(): Refusal {
  return new Refusal('upload_token_refused', 'token: is not an upload token of this service');
}

function signature(secret: string, encodedPolicy: string): Buffer {
  return createHmac('sha1', secret).update(encodedPolicy).digest();
}

/** Compares in the same time however much of the text is right. */
function isSameText(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Encodes as Qiniu does: in the URL-safe alphabet, but unlike base64url with padding. */
function encode(bytes: string | Buffer): string {
  return Buffer.from(bytes).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
}
