import { z } from 'zod';
import { httpUrl, onOff, whole } from '../../base/formats';
import { rows, type Section } from '../../base/settings';
import { networks, origins, trustProxy } from '../formats';

/** Maximum proxies in front: more than anyone has. */
const MOST_PROXIES = 10;

// prettier-ignore
const EVENTS = rows({
  EVENT_DAYS: { kind: whole(1, 365), default: 7,
    says: 'Days that events are kept for webhooks and the messaging provider' },
  WEBHOOK_NETWORKS: { kind: networks, default: '',
    says: `Private networks, separated by commas, that webhooks may lead into, there also without TLS: 10.0.0.0/8. An
      address that ends in zeros needs /32. Default: none.` },
});

// prettier-ignore
const CLIENTS = rows({
  PUBLIC_URL: { kind: httpUrl, required: 'set it to the https address that clients use',
    https: 'the session cookie travels over HTTPS only',
    says: `The address that clients use: https in production, including a path that a proxy strips, if any. Default:
      taken from each request.` },
  TRUST_PROXY: { kind: z.string().transform(trustProxy),
    required: 'set it to the number of proxies in front (1 with the compose file), to their addresses, or to none',
    refuses: [(proxies: unknown) => typeof proxies === 'number' && proxies > MOST_PROXIES, `must be at most ${MOST_PROXIES}, since clients could choose their address beyond the real proxies`],
    says: `Source of the client's address: none (X-Forwarded-For is ignored), the number of proxies in front (1 with the
      compose file), or their addresses (loopback, 10.0.0.0/8, …). Default: none.` },
  CORS_ORIGINS: { kind: origins, default: '',
    https: 'anyone on the network path can change a page that is sent over HTTP',
    says: `Origins of web pages that may call the service, such as https://app.example.com, separated by commas.
      Default: none.` },
  DOCS_PAGE: { kind: onOff, default: 'on',
    says: `on or off: the page /docs, which describes the operations and lets you try them. It shows only public
      information.` },
  INBOX_TOKEN: {
    kind: z.string().regex(/^[\w-]{16,}$/, 'must be 16 or more letters, digits, - and _: openssl rand -hex 16 makes one'),
    says: `In development, the token that opens /dev/inbox, for tests that read codes there. At least 16 letters,
      digits, - or _. Default: a new token at each start, in the links that the service prints. Has no effect in
      production.` },
});

export const SECTIONS: Section[] = [
  { title: 'Events and webhooks', rows: EVENTS },
  { title: 'How clients reach it', rows: CLIENTS },
];

export const ROWS = rows({ ...EVENTS, ...CLIENTS });
