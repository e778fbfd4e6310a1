import type { CookieOptions, RequestHandler } from 'express';
import { asBearer } from './bearer';

/** Returns the name of a cookie. In production a prefix ties the cookie to this host. */
export function cookieName(name: string, production: boolean): string {
  return production ? `__Host-${name}` : name;
}

/** Returns options that hide the cookie from scripts, from forms of other sites and, in production, from HTTP. */
export function cookieOptions(production: boolean): CookieOptions {
  return { httpOnly: true, sameSite: 'lax', secure: production, path: '/' };
}

/** Returns a reader of one cookie from the Cookie header; it returns the empty string if it is missing. */
export function cookieReader(name: string): (cookies: string | undefined) => string {
  const pattern = new RegExp(`(?:^|;)[ \\t]*${name}[ \\t]*=([^;]*)`);
  return (cookies = '') => decoded(unquoted(pattern.exec(cookies)?.[1]?.trim() ?? ''));
}

/**
 * Puts this cookie first among those that an answer sets: some clients keep only the first. A client that keeps its
 * session itself gets it in a header.
 */
export function settingFirst(name: string): RequestHandler {
  return (req, res, next) => {
    // All overloads of writeHead are passed on.
    const writeHead = res.writeHead.bind(res) as (...head: unknown[]) => typeof res;
    res.writeHead = (...head: unknown[]) => {
      const set = [res.getHeader('Set-Cookie') ?? []].flat().map(String);
      const isFirst = (cookie: string) => cookie.startsWith(`${name}=`);
      if (req.isBearer) asBearer(res, set.filter(isFirst));
      else if (set.length > 1)
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
