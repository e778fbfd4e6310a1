import { operation, type Operation } from '../../http/operation';
import type { PublicUrlOf } from '../../http/public-url';
import type { CaptchaService } from './captcha-service';
import { newCaptcha } from './verification-schemas';

export function captchaRouter(captchas: CaptchaService, publicUrlOf: PublicUrlOf): Operation[] {
  return [
    operation({
      path: '/user/get_sms_img_code',
      summary: 'Creates a captcha, which raises the limits of send_code.',
      access: 'anyone',
      result: newCaptcha,
      limits: ['checksPerMinute', 'checksPerDay'],
      handle: async (_input, { caller, req }) => {
        const { verifyId, path } = await captchas.create(caller);
        return { url: `${publicUrlOf(req)}${path}`, verifyId };
      },
    }),
  ];
}
