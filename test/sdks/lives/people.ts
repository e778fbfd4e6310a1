import { readFileSync } from 'node:fs';

export const [, , URL = '', MESSAGES = ''] = process.argv;
export const PASSWORD = 'opensesame';
export const ANN = { region: 44, phone: '7911123458' };
export const BEN = { region: 44, phone: '7911123459' };
export const NOBODY = { region: '44', phone: '7911123460' };

export function same(what: string, found: unknown, wanted: unknown): void {
  const [one, other] = [found, wanted].map((value) => JSON.stringify(value));
  if (one !== other) throw new Error(`${what}: ${one}, and not ${other}`);
}

export function codeFor(number: string): string {
  const lines = readFileSync(MESSAGES, 'utf8').split('\n');
  const line = lines.filter((text) => text.includes(number)).at(-1) ?? '{}';
  return (JSON.parse(line) as { code: string }).code;
}

const send = globalThis.fetch;

/** Keeps one user's cookies, as a browser does. */
export function ownFetch(): typeof fetch {
  const cookies = new Map<string, string>();
  return async (input, init) => {
    const given = typeof input === 'string' && input.startsWith('/') ? URL + input : input;
    const request = new Request(given, init);
    request.headers.set('Cookie', [...cookies].map((pair) => pair.join('=')).join('; '));
    const response = await send(request);
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
}
