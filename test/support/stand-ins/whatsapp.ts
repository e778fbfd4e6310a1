import { rememberSecret } from '../secrets';
import { startVendorServer, type RecordedRequest, type Reply, type Trouble, type VendorServer } from './vendor-server';

/** `accept`, an error in Meta's form, or a broken connection. */
export type WhatsAppBehaviour = 'accept' | { status: number; code: number } | Trouble;

export interface WhatsAppStandIn extends VendorServer {
  token: string;
  phoneNumberId: string;
  template: string;
  /** Sets its behaviour for all later requests. */
  behave(behaviour: WhatsAppBehaviour): void;
}

const TOKEN = rememberSecret('EAAJBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789');
const PHONE_NUMBER_ID = '106540352242922';
const TEMPLATE = 'verification_code';
/** Languages that the template has. */
const LANGUAGES = ['en', 'pt_BR', 'zh_CN'];
/** Maximum characters of a code in an authentication template. */
const LONGEST_CODE = 15;

interface Sending {
  messaging_product?: string;
  to?: string;
  type?: string;
  template?: {
    name?: string;
    language?: { code?: string };
    components?: {
      type?: string;
      sub_type?: string;
      index?: string;
      parameters?: { type?: string; text?: string }[];
    }[];
  };
}

/** Imitates the messages of WhatsApp's Cloud API. It checks what Meta checks of an authentication template. */
export async function startWhatsAppStandIn(): Promise<WhatsAppStandIn> {
  let behaviour: WhatsAppBehaviour = 'accept';
  let count = 0;
  const server = await startVendorServer(200, (request): Reply => {
    const refused = refusal(request);
    if (refused) return refused;
    if (typeof behaviour !== 'string') return error(behaviour.status, behaviour.code, request.body);
    if (behaviour !== 'accept') return { trouble: behaviour };
    count += 1;
    const { to = '' } = JSON.parse(request.body) as Sending;
    const json = {
      messaging_product: 'whatsapp',
      contacts: [{ input: to, wa_id: to.replace('+', '') }],
      messages: [{ id: `wamid.HBgL${count}`, message_status: 'accepted' }],
    };
    return { status: 200, json };
  });
  return {
    ...server,
    token: TOKEN,
    phoneNumberId: PHONE_NUMBER_ID,
    template: TEMPLATE,
    behave(next) {
      behaviour = next;
    },
  };
}

function refusal({ method, path, headers, body }: RecordedRequest): Reply | undefined {
  if (headers.authorization !== `Bearer ${TOKEN}`) return error(401, 190, body);
  if (method !== 'POST' || path !== `/v24.0/${PHONE_NUMBER_ID}/messages`) return error(400, 100, body);
  const { messaging_product, to, type, template } = JSON.parse(body) as Sending;
  if (messaging_product !== 'whatsapp' || !to || type !== 'template') return error(400, 100, body);
  if (template?.name !== TEMPLATE || !LANGUAGES.includes(template.language?.code ?? ''))
    return error(404, 132001, body);
  const [text, button, ...others] = template.components ?? [];
  const code = text?.parameters?.[0]?.text ?? '';
  const isWhole =
    text?.type === 'body' &&
    button?.type === 'button' &&
    button.sub_type === 'url' &&
    button.index === '0' &&
    button.parameters?.[0]?.text === code &&
    others.length === 0;
  if (!isWhole || code.length === 0 || code.length > LONGEST_CODE) return error(400, 132000, body);
  return undefined;
}

/** Returns an error whose message repeats what was sent. */
function error(status: number, code: number, sent: string): Reply {
  const json = {
    error: {
      message: `(#${code}) Something about ${sent}`,
      type: 'OAuthException',
      code,
      error_data: { messaging_product: 'whatsapp', details: `Details about ${sent} by ${TOKEN}` },
      fbtrace_id: 'AbCdEfGhIjKlMnOpQr',
    },
  };
  return { status, json };
}
