import type { Request } from 'express';
import { operation, type Operation } from '../../http/operation';
import type { SignedInDevice } from '../audit/known-places';
import { SENDING_MS } from '../sending/sending';
import type { Words } from '../sending/words';
import type { SendCodeService } from './send-code-service';
import { isAvailable, phone, sendCode, verificationToken, verifyCode } from './verification-schemas';
import type { VerifyCodeService } from './verify-code-service';

/** Reads the device of a request from its signed cookie. */
type DeviceOf = (req: Request) => SignedInDevice | undefined;

interface Deps {
  words: Words;
  sending: SendCodeService;
  verifying: VerifyCodeService;
  deviceOf: DeviceOf;
}

export function verificationRouter({ words, sending, verifying, deviceOf }: Deps): Operation[] {
  return [
    operation({
      path: '/user/send_code',
      summary: 'Sends a verification code to a phone, in an SMS or by another channel.',
      access: 'anyone',
      othersMs: SENDING_MS,
      body: sendCode,
      refusals: [
        'too_soon',
        'captcha_required',
        'daily_limit',
        'address_limit',
        'no_guesses_left',
        'sending_paused',
        'captcha_missing',
        'captcha_wrong',
        'captcha_unchecked',
        'region_not_served',
        'channel_not_served',
        'not_a_mobile',
        'undeliverable',
        'sms_failed',
        'sms_unconfirmed',
        'too_many_checks',
      ],
      handle: async ({ verifyId, verifyCode, channel, language, client, ...phone }, { req, res, caller }) => {
        const wording = words.wordingFor(
          { field: language, header: req.get('Accept-Language') },
          { kind: client, origin: req.get('Origin') },
        );
        const asked = { captcha: { verifyId, verifyCode }, wish: { channel, wording } };
        res.set('X-Channel', await sending.send(phone, caller, asked, deviceOf(req)));
      },
    }),
    operation({
      path: '/user/verify_code',
      summary: 'Exchanges a code for a verification token.',
      access: 'anyone',
      othersMs: SENDING_MS,
      body: verifyCode,
      result: verificationToken,
      refusals: ['wrong_code', 'code_expired', 'guesses_spent', 'code_unchecked'],
      limits: ['verifiesPerMinute', 'verifiesPerDay'],
      handle: async ({ code, ...phone }, { req, caller }) => ({
        verification_token: await verifying.verify(phone, code, caller, deviceOf(req)),
      }),
    }),
    operation({
      path: '/user/check_phone_available',
      summary: 'Returns whether a phone may be registered.',
      access: 'anyone',
      body: phone,
      result: isAvailable,
      limits: ['checksPerMinute', 'checksPerDay'],
      handle: (phone) => verifying.isPhoneAvailable(phone),
    }),
  ];
}
