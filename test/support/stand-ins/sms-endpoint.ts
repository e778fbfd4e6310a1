import { Webhook } from 'standardwebhooks';
import { rememberSecret } from '../secrets';
import { startVendorServer, type Reply, type Trouble, type VendorServer } from './vendor-server';

/** `accept`, another answer, or a broken connection. */
export type EndpointBehaviour =
  'accept' | { status: number; json?: unknown; headers?: Record<string, string> } | Trouble;

export interface SmsEndpoint extends VendorServer {
  secret: string;
  /** Messages that were taken, each once: a repeat has the id of the first. */
  taken: unknown[];
  /** Sets its behaviour for all later requests. */
  behave(behaviour: EndpointBehaviour): void;
}

/** Imitates an operator's endpoint for messages. It takes only what the library of Standard Webhooks verifies. */
export async function startSmsEndpoint(
  secret = rememberSecret('whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='),
): Promise<SmsEndpoint> {
  let behaviour: EndpointBehaviour = 'accept';
  const taken = new Map<string | undefined, unknown>();
  const server = await startVendorServer(200, ({ method, headers, body }): Reply => {
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
    const given = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
    try {
      new Webhook(secret).verify(body, given);
    } catch {
      return { status: 401, json: { error: body } };
    }
    if (method !== 'POST' || headers['content-type'] !== 'application/json') return { status: 415, json: {} };
    if (typeof behaviour !== 'string') return { json: { echo: body }, ...behaviour };
    if (behaviour !== 'accept') return { trouble: behaviour };
    taken.set(given['webhook-id'], JSON.parse(body));
    return { status: 202, json: {} };
  });
  return {
    ...server,
    secret,
    get taken() {
      return [...taken.values()];
    },
    behave(next) {
      behaviour = next;
    },
  };
}
