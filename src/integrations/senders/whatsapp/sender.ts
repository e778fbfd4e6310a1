import { z } from 'zod';
import { nearestLanguage } from '../nearest-language';
import { NumberRefused, type Message, type Sender, type Sent } from '../sender';
import { notTaken, VendorCall, type CallOptions } from '../vendor-call';

export interface WhatsAppOptions extends CallOptions {
  token: string;
  /** Id of the sending number, which is not the number. */
  phoneNumberId: string;
  /** Name of an authentication template with a button for the code. */
  template: string;
  /** Languages that the template has, in Meta's notation: pt_BR. The first is for all other languages. */
  languages: [string, ...string[]];
  /** Address of the Graph API, with its version. */
  apiUrl: string;
  /** Secret by which Meta signs receipts. Without it there are none. */
  appSecret?: string | undefined;
  /** Token by which Meta asks whether the address of receipts is ours. */
  verifyToken?: string | undefined;
}

const PEER = 'WhatsApp';

/** Meta's codes for a recipient whom no setting of ours can reach. Others, such as 131030, are for the operator. */
const REFUSED_NUMBERS = new Set([
  131021, // the sending number itself
  131026, // not on WhatsApp, or with a version that is too old
]);

const accepted = z.object({ messages: z.tuple([z.object({ id: z.string().min(1) })]) });
const refusal = z.object({ error: z.object({ code: z.number() }) });

/** Sends codes by an authentication template of WhatsApp's Cloud API. */
export class WhatsAppSender implements Sender {
  private readonly call: VendorCall;

  constructor(private readonly options: WhatsAppOptions) {
    this.call = new VendorCall(PEER, options);
  }

  async send(message: Message): Promise<Sent> {
    const { token, phoneNumberId, apiUrl } = this.options;
    const { status, body } = await this.call.post(
      `${apiUrl}/${phoneNumberId}/messages`,
      JSON.stringify(this.templateFor(message)),
      { Authorization: `Bearer ${token}` },
    );
    const { data } = accepted.safeParse(body);
    if (status === 200 && data) return { reference: data.messages[0].id };
    const code = refusal.safeParse(body).data?.error.code;
    if (code !== undefined && REFUSED_NUMBERS.has(code))
      throw new NumberRefused(`${PEER} refused the number (code ${code})`, code);
    throw notTaken(PEER, status, code);
  }

  /** Meta fixes the text of the template. It wants the code twice: for the text, and for the button that copies it. */
  private templateFor({ to, code, language }: Message) {
    if (code === undefined) throw new Error(`${PEER} takes codes only`);
    const { template: name, languages } = this.options;
    const parameters = [{ type: 'text', text: code }];
    return {
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to,
      type: 'template',
      template: {
        name,
        language: { code: nearestLanguage(language, languages) ?? languages[0] },
        components: [
          { type: 'body', parameters },
          { type: 'button', sub_type: 'url', index: '0', parameters },
        ],
      },
    };
  }
}
