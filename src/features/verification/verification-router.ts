import { operation, type Operation } from '../../http/operation';
import type { SendCodeService } from './send-code-service';
import { isAvailable, phone, sendCode, verificationToken, verifyCode } from './verification-schemas';
import type { VerifyCodeService } from './verify-code-service';

export function verificationRouter(sending: SendCodeService, verifying: VerifyCodeService): Operation[] {
  return [
    operation({
      path: '/user/send_code',
      summary: 'Sends a verification code to a phone, in an SMS.',
      access: 'anyone',
      body: sendCode,
      refusals: { 5000: 'too many codes were asked for', 429: 'too many captchas of this address were checked' },
      handle: ({ verifyId, verifyCode, ...phone }, { caller }) => sending.send(phone, caller, { verifyId, verifyCode }),
    }),
    operation({
      path: '/user/verify_code',
      summary: 'Exchanges a code for a verification token.',
      access: 'anyone',
      body: verifyCode,
      result: verificationToken,
      refusals: {
        1000: 'the code is wrong, or none was sent',
        2000: 'the code is spent or has expired',
        429: 'too many codes are typed in from this address',
      },
      handle: async ({ code, ...phone }, { caller }) => ({
        verification_token: await verifying.verify(phone, code, caller),
      }),
    }),
    operation({
      path: '/user/check_phone_available',
      summary: 'Whether no account has this phone yet.',
      access: 'anyone',
      body: phone,
      result: isAvailable,
      refusals: { 429: 'too many checks from this address' },
      handle: (phone, { caller }) => verifying.isPhoneAvailable(phone, caller),
    }),
  ];
}
