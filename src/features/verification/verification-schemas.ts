import { z } from 'zod';
import { bytes, described } from '../../http/parse';
import { phoneFields } from '../phones/phone-fields';

const TOKEN = 'c3VjaCBhIHRva2VuIDEyMw';

export const phone = described(phoneFields, { id: 'Phone' });

/** The token of a captcha provider has some thousand bytes. */
const captchaAnswer = z.object({
  verifyId: described(bytes(0, 64), { examples: ['Zm9vYmFyYmF6cXV4MTIzNA'] }).optional(),
  verifyCode: described(bytes(0, 8_192), { examples: ['K7PWX'] }).optional(),
});

export const sendCode = z.intersection(phoneFields, captchaAnswer).meta({ id: 'CodeToSend' });

const code = described(bytes(1, 32), { description: 'The 6 digits of the SMS.', examples: ['271828'] });

export const verifyCode = z.intersection(phoneFields, z.object({ code })).meta({ id: 'CodeToVerify' });

/** As clients send it to prove that a phone is theirs. */
export const givenToken = described(bytes(1, 256), { examples: [TOKEN] });

export const verificationToken = z
  .strictObject({ verification_token: z.string().meta({ description: 'For 30 minutes, once.', examples: [TOKEN] }) })
  .meta({ id: 'VerificationToken' });

export const isAvailable = z.boolean().meta({ description: 'True: nobody has it.', examples: [true] });

export const newCaptcha = z
  .strictObject({
    url: z.url().meta({
      description: 'A picture where it ends in `.png`, else a page to show in a web view.',
      examples: ['http://127.0.0.1:8585/captcha/Zm9vYmFyYmF6cXV4MTIzNA.png'],
    }),
    verifyId: z.string().meta({ examples: ['Zm9vYmFyYmF6cXV4MTIzNA'] }),
  })
  .meta({ id: 'Captcha' });
