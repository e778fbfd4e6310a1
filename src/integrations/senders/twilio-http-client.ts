import RequestClient from 'twilio/lib/base/RequestClient';
import { observed, type CallObserver } from '../calls';

/** The SDK's HTTP client, with a deadline for the whole exchange and, for a stand-in, another address. */
export class TwilioHttpClient extends RequestClient {
  constructor(
    timeoutMs: number,
    private readonly apiUrl?: string,
    private readonly observe?: CallObserver,
  ) {
    super({ timeout: timeoutMs, autoRetry: false });
    this.axios.interceptors.request.use((config) => {
      // The SDK's own time-out restarts with every byte, so that a slow peer could hold a request for ever.
      config.signal = AbortSignal.timeout(timeoutMs);
      return config;
    });
  }

  override request<TData>(options: RequestClient.RequestOptions<TData>) {
    const uri = this.addressOf(options.uri);
    return observed(
      this.observe,
      uri,
      () => super.request({ ...options, uri }),
      ({ statusCode }) => statusCode,
    );
  }

  private addressOf(uri: string): string {
    if (this.apiUrl === undefined) return uri;
    const { pathname, search } = new URL(uri);
    return this.apiUrl.replace(/\/+$/, '') + pathname + search;
  }
}
