import { randomInt } from 'node:crypto';
import { get } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { codeOf } from '../base/errors';
import { budgetOf } from './budget';
import type { Check, CheckContext, PublicAnswer } from './check';

const WAIT_MS = 5_000;
const DAY_MS = 86_400_000;
/** Caddy renews a certificate a month before its end. */
const LEAST_DAYS = 14;
/** Price of a message in dollars, for judging a credit: the usual one. Euros and pounds buy more. */
const MESSAGE_PRICE = 0.05;
const LIKE_DOLLARS = ['USD', 'EUR', 'GBP'];
/** Codes of errors that are of a certificate, and not of a connection. */
const OF_CERTIFICATE = /CERT|SELF_SIGNED|^UNABLE_TO|^ERR_TLS/;
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
  'headers of the proxy': async ({ support, config: { http, limits }, askPublicly }) => {
    const { name, amount } = limits.pageKibPerHour;
    if (http.publicUrl === undefined || amount === 0)
      return { note: 'not tried: it needs PUBLIC_URL and PAGE_KIB_PER_IP_HOUR' };
    if ('failure' in (await askPublicly())) return NOT_REACHED;
    const claimed = `2001:db8:${randomGroup()}:${randomGroup()}::`;
    const headers = { 'X-Forwarded-For': `${claimed}1` };
    // A new address each time, so that no cache answers it.
    const url = `${http.publicUrl}/openapi.json?${claimed}`;
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(WAIT_MS) });
    if (!answer.ok)
      return `${http.publicUrl}/openapi.json answers ${answer.status}: let the proxy hand on every path (docs/deploying.md)`;
    await answer.arrayBuffer();
    const counted = await support.limitsOf(`${claimed}/64`, [name]);
    return counted.length === 0
      ? undefined
      : 'a client can choose its address by X-Forwarded-For: lower TRUST_PROXY to the proxies that there are (docs/abuse.md)';
  },
  'public address': async ({ config, askPublicly }) => {
    const { publicUrl } = config.http;
    if (publicUrl === undefined) return 'PUBLIC_URL is not set: links and images get the address of each request';
    const answer = await askPublicly();
    if ('failure' in answer) {
      if (isOfCertificate(answer)) return { note: 'not tried: its certificate is not trusted here' };
      throw answer.failure;
    }
    const { status } = answer;
    const said = codeIn(answer.body);
    if (status === 200 && said === 200) return undefined;
    const where = `${publicUrl}/readyz answers ${status}`;
    return said === 503
      ? `${where}: an instance is not ready, and the answer says why`
      : `${where}, and ${said === status ? 'has no such path there' : 'it is another program'}: PUBLIC_URL must be the address that the proxy hands on to this service (docs/deploying.md)`;
  },
  certificate: async ({ config: { http }, askPublicly }) => {
    if (!http.publicUrl?.startsWith('https:')) return { note: 'not tried: PUBLIC_URL is not an https address' };
    const answer = await askPublicly();
    if ('failure' in answer && !isOfCertificate(answer)) return NOT_REACHED;
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
  'SMS credit': async (context) => {
    const credits = await (await context.services()).smsCredits();
    const left = credits.map(({ name, amount, currency }) => `${name} ${amount.toFixed(2)} ${currency}`).join(', ');
    if (credits.some(({ amount }) => amount <= 0)) return `${left}: pay the provider, or no code is sent`;
    const { messages, of } = await messagesToPay(context);
    const short = credits.find(
      ({ amount, currency }) => LIKE_DOLLARS.includes(currency) && amount < messages * MESSAGE_PRICE,
    );
    if (short)
      return `${left}: at ${MESSAGE_PRICE} a message that is less than a day, ${of}: pay the provider before it ends`;
    return left ? { note: left } : undefined;
  },
  'budget of codes': async (context) => {
    const budget = await budgetOf(context);
    if (!budget) return context.config.production ? 'SEND_CODE_PER_DAY is 0: a fraud has no bound' : undefined;
    const { refused, ends } = budget;
    return refused ? `it refuses ${refused} until ${ends}: docs/alerts.md, BudgetSpent` : undefined;
  },
};

const NOT_REACHED = { note: 'not tried: PUBLIC_URL is not reached, see public address' };

/** Asks PUBLIC_URL whether the service is ready. */
export async function askPublicUrl({ config }: Pick<CheckContext, 'config'>): Promise<PublicAnswer> {
  try {
    const answer = await fetch(`${config.http.publicUrl}/readyz`, { signal: AbortSignal.timeout(WAIT_MS) });
    return { status: answer.status, body: await answer.text() };
  } catch (error) {
    return { failure: error };
  }
}

function isOfCertificate({ failure }: { failure: unknown }): boolean {
  return failure instanceof Error && OF_CERTIFICATE.test(codeOf(failure.cause) ?? '');
}

/** Returns the code that answers of the service have in their body. */
function codeIn(body: string): unknown {
  try {
    return (JSON.parse(body) as { code?: unknown } | null)?.code;
  } catch {
    return undefined;
  }
}

/** Returns the messages of a day that a credit has to pay: the budget or, without one, those of the last day. */
async function messagesToPay({ config, support }: CheckContext): Promise<{ messages: number; of: string }> {
  const { amount } = config.limits.sendInAll;
  if (amount > 0) return { messages: amount, of: `which may have ${amount} messages (SEND_CODE_PER_DAY)` };
  const { sent } = await support.messagesOfDay();
  return { messages: sent, of: `since ${sent} were sent in the last one` };
}

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
    asking.on('error', reject);
  });
}
