import { lookup, type LookupAddress } from 'node:dns';
import { request as requestByHttp, Agent } from 'node:http';
import { request as requestByHttps, Agent as SafeAgent } from 'node:https';
import { isIP, type BlockList, type LookupFunction } from 'node:net';
import { isIn, isPrivate } from '../base/networks';
import { observed, type CallObserver } from './calls';
import { signedHeaders, type SignedMessage } from './standard-webhooks';

export interface Receiver {
  url: string;
  /** Secrets that sign: the present one and, for a while, the one before. */
  secrets: string[];
}

/** The receiver did not take a message. Its reason is shown to operators, and names neither address nor message. */
export class NotTaken extends Error {
  override readonly name = 'NotTaken';

  constructor(
    message: string,
    /** Whether the receiver wants no message any more. */
    readonly isGone = false,
  ) {
    super(message);
  }
}

/** Longest time until the head of an answer. */
const TIMEOUT_MS = 15_000;
/** Only the status of an answer counts. A longer body ends the connection instead of being read. */
const MOST_OF_BODY = 64 * 1_024;

/** Sends messages to receivers of operators, signed as Standard Webhooks 1.0 says. */
export class WebhookCaller {
  private readonly agents = { 'http:': new Agent({ keepAlive: true }), 'https:': new SafeAgent({ keepAlive: true }) };

  constructor(
    /** Networks that are not of the internet, and that receivers may nevertheless be in. */
    private readonly allowed: BlockList,
    private readonly observe?: CallObserver,
    private readonly timeoutMs = TIMEOUT_MS,
  ) {}

  /** Throws `NotTaken` for every answer but one of success. Follows no redirect: it may lead into a private network. */
  async send({ url, secrets }: Receiver, message: SignedMessage): Promise<void> {
    const { body } = message;
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'User-Agent': 'user-account-service',
      ...signedHeaders(secrets, message),
    };
    const status = await observed(
      this.observe,
      url,
      () => this.post(new URL(url), headers, body),
      (answered) => answered,
    );
    if (status >= 200 && status < 300) return;
    if (status >= 300 && status < 400)
      throw new NotTaken(`it redirects (HTTP status ${status}), which is not followed`);
    throw new NotTaken(`it answered with the HTTP status ${status}`, status === 410);
  }

  close(): void {
    for (const agent of Object.values(this.agents)) agent.destroy();
  }

  private post(url: URL, headers: Record<string, string | number>, body: string): Promise<number> {
    const isSafe = url.protocol === 'https:';
    return new Promise((resolve, reject) => {
      const host = url.hostname.replace(/^\[|\]$/g, '');
      // Nothing looks up an address that is one already.
      if (isIP(host) && !mayReach(this.allowed, host, isSafe)) return reject(notAllowed());
      const request = (isSafe ? requestByHttps : requestByHttp)(url, {
        method: 'POST',
        headers,
        agent: this.agents[isSafe ? 'https:' : 'http:'],
        lookup: this.lookUp(isSafe),
        signal: AbortSignal.timeout(this.timeoutMs),
      });
      request.on('error', (error) => reject(asNotTaken(error)));
      request.on('response', (response) => {
        resolve(response.statusCode ?? 0);
        let length = 0;
        response.on('error', () => undefined);
        response.on('data', (part: Buffer) => {
          length += part.length;
          if (length > MOST_OF_BODY) response.destroy();
        });
      });
      request.end(body);
    });
  }

  /** Looks up a host for a connection, and allows it only if each of its addresses may be reached. */
  private lookUp(isSafe: boolean): LookupFunction {
    return (host, options, callback) => {
      lookup(host, { ...options, all: true }, (error, found: LookupAddress[]) => {
        if (error) callback(error, '');
        else if (!found.every(({ address }) => mayReach(this.allowed, address, isSafe))) callback(notAllowed(), '');
        else if (options.all) callback(null, found);
        else callback(null, found[0]?.address ?? '', found[0]?.family);
      });
    };
  }
}

/** Without TLS only where operators have allowed it. */
function mayReach(allowed: BlockList, address: string, isSafe: boolean): boolean {
  return isIn(allowed, address) || (isSafe && !isPrivate(address));
}

/** Returns why an address can never be called, as far as it tells without the DNS. */
export function neverReached({ protocol, hostname }: URL, allowed: BlockList): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '');
  const isSafe = protocol === 'https:';
  if (isIP(host)) return mayReach(allowed, host, isSafe) ? undefined : notAllowed().message;
  return isSafe || allowed.rules.length > 0 ? undefined : notAllowed().message;
}

function notAllowed(): NotTaken {
  return new NotTaken('its address is private, or it has no https: WEBHOOK_NETWORKS allows such networks');
}

/** The code only: the error of a connection names the address. */
function asNotTaken(error: Error & { code?: string }): NotTaken {
  if (error instanceof NotTaken) return error;
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return new NotTaken('it did not answer in time');
  return new NotTaken(`it cannot be reached (${error.code ?? error.name})`);
}
