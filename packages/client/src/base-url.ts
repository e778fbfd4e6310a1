/** By the text: the URL of React Native knows no parts. */
const READABLE = /^http:\/\/(?!(localhost|127(\.\d+){3}|\[::1\])(:\d+)?([/?#]|$))/i;

/** Whether what is sent there, passwords among it, can be read on the way. */
export function isReadable({ href }: URL): boolean {
  return READABLE.test(href);
}

/** React Native reads any text as a URL, and others take `localhost:8585` for one with a protocol of its own. */
export function parsedBaseUrl(text: string): URL {
  const url = /^https?:\/\//i.test(text) ? parsed(text) : undefined;
  if (url) return url;
  throw new TypeError(`baseUrl must be a whole address, such as https://accounts.example.com, and not "${text}"`);
}

function parsed(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
