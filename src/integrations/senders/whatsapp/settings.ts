import { z } from 'zod';
import { httpUrl, list, text } from '../../../base/formats';
import { rows, vendor } from '../../../base/settings';

const MISTAKE_IN_LANGUAGES = 'must be languages separated by commas, such as en,pt_BR';
const language = z.string(MISTAKE_IN_LANGUAGES).regex(/^[a-z]{2,3}(_[A-Z]{2,4})?$/, MISTAKE_IN_LANGUAGES);

// prettier-ignore
const ROWS = rows({
  WHATSAPP_TOKEN: { kind: text, secret: true,
    says: 'Permanent token of a system user, with the right `whatsapp_business_messaging`.' },
  WHATSAPP_PHONE_NUMBER_ID: {
    kind: z.string().regex(/^\d{1,20}$/, 'must be the id of the number, which has digits only'),
    says: 'Id of the sending number. It is not the number.' },
  WHATSAPP_TEMPLATE: {
    kind: z.string().regex(/^[a-z0-9_]{1,512}$/, 'must be the name of a template: a-z, digits and _'),
    says: 'Name of an authentication template with a copy-code or one-tap button.' },
  WHATSAPP_TEMPLATE_LANGUAGES: { kind: list.pipe(z.tuple([language], language)), default: 'en',
    says: 'Languages that the template has, as Meta writes them: `en,pt_BR`. The first is for all others.' },
  WHATSAPP_API_URL: { kind: httpUrl, default: 'https://graph.facebook.com/v24.0',
    https: 'codes and the token are sent there',
    says: 'The Graph API, with its version. Meta ends a version after about two years.' },
  WHATSAPP_APP_SECRET: { kind: text, secret: true,
    says: 'For receipts at `PUBLIC_URL/receipts/whatsapp`: the secret of the app at Meta, and a token that you make up.' },
  WHATSAPP_VERIFY_TOKEN: { kind: text, secret: true },
});

const RECEIPTS = () => 'receipts of WhatsApp need it';

export const WHATSAPP = vendor(ROWS, (env, need) => ({
  token: need('WHATSAPP_TOKEN'),
  phoneNumberId: need('WHATSAPP_PHONE_NUMBER_ID'),
  template: need('WHATSAPP_TEMPLATE'),
  languages: env.WHATSAPP_TEMPLATE_LANGUAGES,
  apiUrl: env.WHATSAPP_API_URL,
  ...((env.WHATSAPP_APP_SECRET ?? env.WHATSAPP_VERIFY_TOKEN) !== undefined && {
    appSecret: need('WHATSAPP_APP_SECRET', RECEIPTS),
    verifyToken: need('WHATSAPP_VERIFY_TOKEN', RECEIPTS),
  }),
}));
