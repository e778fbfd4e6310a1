import type { CookieOptions, RequestHandler } from 'express';

/** In production the prefix ties a cookie to this host. */
export function cookieName(name: string, production: boolean): string {
  return production ? `__Host-${name}` : name;
}

/** No script reads the cookie, and no other site's form sends it. In production it travels over HTTPS only. */
export function cookieOptions(production: boolean): CookieOptions {
  return { httpOnly: true, sameSite: 'lax', secure: production, path: '/' };
}

/** Reads one cookie from the Cookie header; the empty string where there is none. */
export function cookieReader(name: string): (cookies: string | undefined) => string {
  const pattern = new RegExp(`(?:^|;)[ \\t]*${name}[ \\t]*=([^;]*)`);
  return (cookies = '') => decoded(unquoted(pattern.exec(cookies)?.[1]?.trim() ?? ''));
}

/** Whatever other cookies an answer sets, this one is the first: some clients keep only the first. */
export function settingFirst(name: string): RequestHandler {
  return (_req, res, next) => {
    // It has several forms, and all of them are passed on.
    const writeHead = res.writeHead.bind(res) as (...head: unknown[]) => typeof res;
    res.writeHead = (...head: unknown[]) => {
      const set = [res.getHeader('Set-Cookie') ?? []].flat().map(String);
      const isFirst = (cookie: string) => cookie.startsWith(`${name}=`);
      if (set.length > 1)
        res.setHeader('Set-Cookie', [...set.filter(isFirst), ...set.filter((cookie) => !isFirst(cookie))]);
      return writeHead(...head);
    };
    next();
  };
}

function unquoted(text: string): string {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
}

function decoded(text: string): string {
  try {
    return text.includes('%') ? decodeURIComponent(text) : text;
  } catch {
    return '';
  }
}
