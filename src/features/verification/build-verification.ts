import type { Foundation } from '../../foundation/foundation';
import { tallied } from '../../foundation/part';
import { chooseCaptchas, type CaptchaSettings } from '../../integrations/captcha/choose-captchas';
import { receiptReaders } from '../../integrations/senders/choose-senders';
import type { SenderSettings } from '../../integrations/senders/kinds';
import type { AuditTrail } from '../audit/audit-trail';
import type { KnownPlaces } from '../audit/known-places';
import type { Limiter } from '../limits/limiter';
import type { Routes } from '../sending/routes';
import type { Sending } from '../sending/sending';
import { TestNumbers, type TestNumber } from '../sending/test-numbers';
import type { WaysRepository } from '../sending/ways-repository';
import type { Words } from '../sending/words';
import type { SpendGuard } from '../spend-guard/spend-guard';
import type { UsersRepository } from '../users/users-repository';
import { CaptchaService } from './captcha-service';
import type { CaptchasRepository } from './captchas-repository';
import { CodeSender } from './code-sender';
import { receiptsRouter } from './receipts-router';
import { SendCodeService, type SendingRules } from './send-code-service';
import { VerificationCodes } from './verification-code';
import type { VerificationRepository } from './verification-repository';
import type { VerificationTokensRepository } from './verification-tokens-repository';
import { VerifyCodeService, type VerifyingRules } from './verify-code-service';

interface Repositories {
  captchas: CaptchasRepository;
  users: UsersRepository;
  verification: VerificationRepository;
  verificationTokens: VerificationTokensRepository;
  ways: WaysRepository;
}

type Needs = Foundation<Repositories> & {
  words: Words;
  routes: Routes;
  sending: Sending;
  limiter: Limiter;
  audit: AuditTrail;
  knownPlaces: KnownPlaces;
  spendGuard: SpendGuard;
};

interface Settings {
  rules: SendingRules & VerifyingRules & { codeTtlSeconds: number };
  captcha: CaptchaSettings;
  senders: SenderSettings;
  testNumbers: TestNumber[];
}

/** Captchas are large, and anyone can request many. */
const CAPTCHA_SWEEP_MS = 60_000;

const CAPTCHAS = {
  name: 'captchas_total',
  help: 'Captchas that were made, and verdicts on answers.',
  labels: ['result'],
};

export async function buildVerification(needs: Needs, { rules, captcha, senders, testNumbers: numbers }: Settings) {
  const { repos, sessionSecrets: secrets, observeCall: observe, vendorTimeoutMs: timeoutMs, ...others } = needs;
  const challenges = { secrets, isAlarmed: () => needs.spendGuard.isAlarmed() };
  const asking = { ...others, kept: repos.captchas, challenges, observe, timeoutMs };
  const { captchas: provider, router: captchaRouter } = await chooseCaptchas(captcha, asking);
  const captchas = new CaptchaService(provider, needs.limiter);
  const codes = new VerificationCodes(secrets);
  const testNumbers = new TestNumbers(numbers, repos.users);
  const deps = { ...others, ...repos, codes, captchas, testNumbers };
  const sender = new CodeSender(deps, rules);
  return {
    codes,
    testNumbers,
    captchaRouter,
    captchas,
    sendCode: new SendCodeService({ ...deps, sender }, rules),
    verifyCode: new VerifyCodeService(deps, rules),
    receipts: receiptsRouter(await receiptReaders(senders), repos.verification, needs.limiter),
    part: {
      sweeps: [
        { name: 'codes', run: () => repos.verification.sweep() },
        { name: 'tokens', run: () => repos.verificationTokens.sweep() },
        { name: 'captchas', everyMs: CAPTCHA_SWEEP_MS, run: () => repos.captchas.sweep() },
      ],
      figures: [tallied(CAPTCHAS, captchas.counts)],
    },
  };
}
