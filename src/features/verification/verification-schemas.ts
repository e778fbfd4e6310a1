import { z } from 'zod';
import { bytes, described } from '../../base/schemas';
import { CHANNELS } from '../../integrations/senders/kinds';
import { phoneFields } from '../phones/phone-fields';
import { CLIENTS } from '../sending/last-line';

const TOKEN = 'c3VjaCBhIHRva2VuIDEyMw';

export const phone = described(phoneFields, { id: 'Phone', description: 'A phone.' });

/** The token of a captcha provider has a few thousand bytes. */
const captchaAnswer = z.object({
  verifyId: described(bytes(0, 64), {
    description: 'From get_sms_img_code, at most 64 bytes.',
    examples: ['Zm9vYmFyYmF6cXV4MTIzNA'],
  }).optional(),
  verifyCode: described(bytes(0, 8_192), {
    description:
      'The text of the picture, as the user reads it, the token of the page, or the payload of ALTCHA. At most 8,192 bytes.',
    examples: ['K7PWX'],
  }).optional(),
});

const channel = z
  .enum(CHANNELS, { error: `must be one of ${CHANNELS.join(', ')}` })
  .meta({ id: 'Channel', description: 'How the code is sent. `X-Channel` of the answer says which was used.' });

const wish = z.object({
  channel: channel.optional(),
  language: described(bytes(0, 64), {
    description: 'Tag of the language of the message. One that there is not is passed over for `Accept-Language`.',
    examples: ['zh-Hant-TW'],
  }).optional(),
  client: z
    .enum(CLIENTS, { error: 'must be android, ios or web' })
    .meta({
      description: 'System that reads the code out of the message. A page need not say so.',
      examples: ['android'],
    })
    .optional(),
});

export const sendCode = z
  .intersection(phoneFields, captchaAnswer.extend(wish.shape))
  .meta({ id: 'CodeToSend', description: 'The phone to send a code to, and a solved captcha if one is required.' });

const code = described(bytes(1, 32), { description: 'The 6 digits of the SMS.', examples: ['271828'] });

export const verifyCode = z
  .intersection(phoneFields, z.object({ code }))
  .meta({ id: 'CodeToVerify', description: 'A phone and the code that was sent to it.' });

/** The token by which clients prove that a phone is theirs. */
export const givenToken = described(bytes(1, 256), { description: 'From verify_code.', examples: [TOKEN] });

export const verificationToken = z
  .strictObject({
    verification_token: z.string().meta({ description: 'Valid for 30 minutes, once.', examples: [TOKEN] }),
  })
  .meta({ id: 'VerificationToken', description: "The proof that the phone is the user's." });

export const isAvailable = z.boolean().meta({ description: 'Whether the phone may be registered.', examples: [true] });

export const newCaptcha = z
  .strictObject({
    url: z.url().meta({
      description:
        'A picture if it ends in `.png`, a challenge of ALTCHA if it ends in `/challenge`, else a page to show in a web view.',
      examples: ['http://127.0.0.1:8585/captcha/Zm9vYmFyYmF6cXV4MTIzNA.png'],
    }),
    verifyId: z.string().meta({
      description: 'Send it to send_code, with the solution as `verifyCode`.',
      examples: ['Zm9vYmFyYmF6cXV4MTIzNA'],
    }),
  })
  .meta({ id: 'Captcha', description: 'A captcha to show to the user.' });
