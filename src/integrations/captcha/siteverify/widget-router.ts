import { createHash } from 'node:crypto';
import { Router } from 'express';
import type { Endpoint } from '../../../http/endpoint';
import { get } from '../../../http/route';

export interface WidgetOptions {
  siteKey: string;
  /** The provider's script, which shows its widget. */
  scriptUrl: string;
}

export const widget: Endpoint = {
  method: 'get',
  path: '/captcha/widget',
  name: 'captchaWidget',
  summary: "A page with a provider's captcha, for a web view.",
  answer: { type: 'text/html' },
  // If the service draws the captchas itself.
  refusals: ['no_such_path'],
};

/** Script that hands the token to a web view: in the address, and by message handlers, whichever it can follow. */
const HAND_OVER = `function solved(token) {
  location.hash = 'verifyCode=' + encodeURIComponent(token);
  window.ReactNativeWebView?.postMessage(token);
  window.webkit?.messageHandlers?.verifyCode?.postMessage(token);
}`;

/** Serves the page that shows the provider's widget in a web view. */
export function widgetRouter(options: WidgetOptions): Router {
  const router = Router();
  const [page, headers] = [pageOf(options), headersOf(options)];

  get(router, '/widget', (_req, res) => {
    res.set(headers).type('text/html').send(page);
  });

  return router;
}

/** Returns the page. Each provider looks for its own class, and passes the token to the function in data-callback. */
function pageOf({ siteKey, scriptUrl }: WidgetOptions): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Captcha</title>
<script>${HAND_OVER}</script>
<script src="${escaped(scriptUrl)}" async defer></script>
<div class="cf-turnstile h-captcha" data-sitekey="${escaped(siteKey)}" data-callback="solved"></div>
</html>
`;
}

function headersOf({ scriptUrl }: WidgetOptions): Record<string, string> {
  const provider = sourcesOf(new URL(scriptUrl));
  const hash = createHash('sha256').update(HAND_OVER).digest('base64');
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hash}' ${provider}`,
    ...['frame-src', 'style-src', 'connect-src'].map((directive) => `${directive} ${provider}`),
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ].join('; ');
  // A provider may check the host of the page that shows its widget.
  return { 'Content-Security-Policy': policy, 'Referrer-Policy': 'strict-origin' };
}

/** Returns the sources to allow. hCaptcha loads parts from changing hosts of its domain, and asks to allow all. */
function sourcesOf({ hostname, origin }: URL): string {
  return `.${hostname}`.endsWith('.hcaptcha.com') ? 'https://hcaptcha.com https://*.hcaptcha.com' : origin;
}

function escaped(text: string): string {
  return text.replace(/[&"<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}
