import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { TestApp } from './app';
import { cookieOf, sendRaw } from './calls';
import type { Person } from './people';

/** Returns the headers of a signed-in client that sends plain HTTP, as `agent` does not. */
export async function cookieFor(app: TestApp, { region, phone, password }: Person): Promise<{ Cookie: string }> {
  const answer = await sendRaw(app, '/user/login', { body: JSON.stringify({ region, phone, password }) });
  return { Cookie: cookieOf(answer) };
}

/** Returns an answer whose body a test reads at its own pace: Node reads no more from the socket than is consumed. */
export async function openAnswer(
  app: TestApp,
  path: string,
  headers: OutgoingHttpHeaders,
  body?: object,
): Promise<IncomingMessage> {
  const options = { socketPath: await app.smallSocket(), path, method: 'POST', headers, agent: false };
  const text = body && JSON.stringify(body);
  if (text) options.headers = { ...headers, 'Content-Type': 'application/json' };
  return new Promise((resolve, reject) => {
    request(options, resolve).on('error', reject).end(text);
  });
}

/** Returns the body, still compressed if it was sent so. Rejects when the answer breaks off. */
export async function readBytes(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
