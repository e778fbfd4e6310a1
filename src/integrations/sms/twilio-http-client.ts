import RequestClient from 'twilio/lib/base/RequestClient';

/** The SDK's HTTP client, with a deadline for the whole exchange and, for a stand-in, another address. */
export class TwilioHttpClient extends RequestClient {
  constructor(
    timeoutMs: number,
    private readonly apiUrl?: string,
  ) {
    super({ timeout: timeoutMs, autoRetry: false });
    this.axios.interceptors.request.use((config) => {
      // The SDK's own time-out restarts with every byte, so that a slow peer could hold a request for ever.
      config.signal = AbortSignal.timeout(timeoutMs);
      return config;
    });
  }

  override request<TData>(options: RequestClient.RequestOptions<TData>) {
    if (this.apiUrl === undefined) return super.request(options);
    const { pathname, search } = new URL(options.uri);
    return super.request({ ...options, uri: this.apiUrl.replace(/\/+$/, '') + pathname + search });
  }
}
