/** Matches the text, because the URL of React Native does not know its parts. */
const READABLE = /^http:\/\/(?!(localhost|127(\.\d+){3}|\[::1\])(:\d+)?([/?#]|$))/i;

/** Returns whether others on the network can read what is sent there, such as passwords. */
export function isReadable({ href }: URL): boolean {
  return READABLE.test(href);
}

/** Returns the host of an address, with its port, for keys of a storage. */
export function hostOf({ href }: Pick<URL, 'href'>): string {
  return /^https?:\/\/([^/?#]*)/i.exec(href)?.[1] ?? '';
}

/** Checks the protocol itself: React Native accepts any text as a URL, and others read `localhost:` as a protocol. */
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
