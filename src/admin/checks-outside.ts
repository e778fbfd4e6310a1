import { randomInt } from 'node:crypto';
import { get } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { budgetOf } from './budget';
import type { Check } from './check';

const WAIT_MS = 5_000;
const DAY_MS = 86_400_000;
/** Caddy renews a certificate a month before its end. */
const LEAST_DAYS = 14;
/** Events of the last day that must have come from more than one address, if they are of several users. */
const SEVERAL = { events: 50, users: 10 };

/** Checks of what is between the service and its clients, and of the provider. */
export const OUTSIDE: Record<string, Check> = {
  'addresses of clients': async ({ support }) => {
    const { events, users, addresses } = await support.addressesOfDay();
    if (events < SEVERAL.events || users < SEVERAL.users || addresses > 1) return undefined;
    return `${users} users have one address: TRUST_PROXY must name the proxy in front (docs/abuse.md)`;
  },
  /** Claims an address of documentation, and looks which address was counted. */
  'headers of the proxy': async ({ support, config: { http, limits } }) => {
    const { name, amount } = limits.pageKibPerHour;
    if (http.publicUrl === undefined || amount === 0)
      return { note: 'not tried: it needs PUBLIC_URL and PAGE_KIB_PER_IP_HOUR' };
    const claimed = `2001:db8:${randomGroup()}:${randomGroup()}::`;
    const headers = { 'X-Forwarded-For': `${claimed}1` };
    // A new address each time, so that no cache answers it.
    const url = `${http.publicUrl}/openapi.json?${claimed}`;
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(WAIT_MS) });
    if (!answer.ok) return `${http.publicUrl}/openapi.json answers ${answer.status}`;
    await answer.arrayBuffer();
    const counted = await support.limitsOf(`${claimed}/64`, [name]);
    return counted.length === 0
      ? undefined
      : 'a client can choose its address by X-Forwarded-For: lower TRUST_PROXY to the proxies that there are (docs/abuse.md)';
  },
  'public address': async ({ config }) => {
    const { publicUrl } = config.http;
    if (publicUrl === undefined) return 'PUBLIC_URL is not set: links and images get the address of each request';
    const answer = await fetch(`${publicUrl}/readyz`, { signal: AbortSignal.timeout(WAIT_MS) });
    return answer.ok ? undefined : `${publicUrl}/readyz answers ${answer.status}`;
  },
  certificate: async ({ config: { http } }) => {
    if (!http.publicUrl?.startsWith('https:')) return { note: 'not tried: PUBLIC_URL is not an https address' };
    const days = Math.floor((await endOfCertificate(http.publicUrl)) / DAY_MS);
    if (days < LEAST_DAYS) return `it ends in ${days} days: find out why it was not renewed, in the log of the proxy`;
    return { note: `it ends in ${days} days` };
  },
  'SMS provider': async ({ support }) => {
    const { sent, failed } = await support.messagesOfDay();
    return failed > sent
      ? `${failed} messages failed in the last day, and ${sent} were sent: look at its status and credit`
      : undefined;
  },
  'SMS credit': async ({ services }) => {
    const credits = await services.operators.smsCredits();
    const left = credits.map(({ name, amount, currency }) => `${name} ${amount.toFixed(2)} ${currency}`).join(', ');
    if (credits.some(({ amount }) => amount <= 0)) return `${left}: pay the provider, or no code is sent`;
    return left ? { note: left } : undefined;
  },
  'budget of codes': async (at) => {
    const budget = await budgetOf(at);
    if (!budget) return at.config.production ? 'SEND_CODE_PER_DAY is 0: a fraud has no bound' : undefined;
    const { refused, ends } = budget;
    return refused ? `it refuses ${refused} until ${ends}: docs/alerts.md, BudgetSpent` : undefined;
  },
};

function randomGroup(): string {
  return randomInt(0x1000, 0x10000).toString(16);
}

/** Returns the milliseconds that the certificate is still valid. One that is not trusted is an error. */
function endOfCertificate(address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asking = get(`${address}/readyz`, { signal: AbortSignal.timeout(WAIT_MS) }, (answer) => {
      const { valid_to } = (answer.socket as TLSSocket).getPeerCertificate();
      answer.resume();
      resolve(Date.parse(valid_to) - Date.now());
    });
    asking.on('error', ({ message }) => reject(new Error(message)));
  });
}
