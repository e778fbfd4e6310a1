import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { signedHeaders } from '../../standard-webhooks';
import { NumberRefused, type Message, type Sender, type Sent } from '../sender';
import { notTaken, VendorCall, type CallOptions } from '../vendor-call';

export interface HttpOptions extends CallOptions {
  url: string;
  /** Secrets that sign: the present one and, while it is changed, the one before. */
  secrets: string[];
}

const PEER = 'the endpoint of SMS_HTTP_URL';
/** Status by which the endpoint says that it never delivers to this number. */
const REFUSED = 422;

const answer = z.object({ reference: z.string().min(1).max(200).optional() }).catch({});

/** Gives messages to an endpoint of the operator, signed as Standard Webhooks 1.0 says. */
export class HttpSender implements Sender {
  private readonly call: VendorCall;

  constructor(private readonly options: HttpOptions) {
    this.call = new VendorCall(PEER, options);
  }

  async send({ to, channel, body: text, code, language }: Message): Promise<Sent> {
    const { url, secrets } = this.options;
    const id = randomUUID();
    const body = JSON.stringify({ id, to, channel, body: text, code, language });
    const answered = await this.call.post(url, body, signedHeaders(secrets, { id, body, at: Date.now() }));
    if (answered.status === REFUSED) throw new NumberRefused(`${PEER} refused the number`, REFUSED);
    if (answered.status < 200 || answered.status > 299) throw notTaken(PEER, answered.status);
    // An endpoint without names of its own knows the message by our id.
    return { reference: answer.parse(answered.body).reference ?? id };
  }
}
