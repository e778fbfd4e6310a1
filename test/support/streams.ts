import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { TestApp } from './app';
import { cookieOf, sendRaw } from './calls';
import type { Person } from './people';

/** The headers of a signed-in client that speaks plain HTTP, as `agent` does not. */
export async function cookieFor(app: TestApp, { region, phone, password }: Person): Promise<{ Cookie: string }> {
  const answer = await sendRaw(app, '/user/login', { body: JSON.stringify({ region, phone, password }) });
  return { Cookie: cookieOf(answer) };
}

/** An answer whose body is read, or not, as the test goes along: Node asks the socket for no more than is taken. */
export function openAnswer({ url }: TestApp, path: string, headers: OutgoingHttpHeaders): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(`${url}${path}`, { method: 'POST', headers, agent: false }, resolve).on('error', reject).end();
  });
}

/** The body, still compressed when it came so; rejects when the answer breaks off. */
export async function readBytes(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
