import type { Router } from 'express';
import type { Logger } from 'pino';
import type { Queues } from '../../load/queues';
import type { CallObserver } from '../calls';
import type { AltchaOptions, SpentChallenges } from './altcha/captchas';
import type { Captchas } from './captchas';
import type { KeptCaptchas } from './drawn/captchas';
import type { SiteverifyOptions } from './siteverify/captchas';
import type { WidgetOptions } from './siteverify/widget-router';

export type CaptchaSettings =
  | { provider: 'drawn'; answers: 'checked' | 'ignored' }
  | { provider: 'altcha' }
  | ({ provider: 'turnstile' } & SiteverifyOptions & WidgetOptions);

interface Deps {
  /** Storage of drawn captchas, and of solved challenges. */
  kept: KeptCaptchas & SpentChallenges;
  challenges: AltchaOptions;
  queues: Pick<Queues, 'captchaPictures' | 'captchaChecks'>;
  logger: Logger;
  observe?: CallObserver | undefined;
  timeoutMs?: number | undefined;
}

/** Returns the captchas, and a router for what clients show of them. */
export async function chooseCaptchas(
  settings: CaptchaSettings,
  { kept, challenges, queues, logger, ...asking }: Deps,
): Promise<{ captchas: Captchas; router: Router }> {
  switch (settings.provider) {
    case 'turnstile': {
      const { SiteverifyCaptchas } = await import('./siteverify/captchas');
      const { widgetRouter } = await import('./siteverify/widget-router');
      return {
        captchas: new SiteverifyCaptchas({ ...settings, ...asking }, queues.captchaChecks, logger),
        router: widgetRouter(settings),
      };
    }
    case 'altcha': {
      const { AltchaCaptchas } = await import('./altcha/captchas');
      const { challengeRouter } = await import('./altcha/challenge-router');
      const captchas = new AltchaCaptchas(kept, queues.captchaPictures, challenges);
      return { captchas, router: challengeRouter(captchas) };
    }
    case 'drawn': {
      const { DrawnCaptchas } = await import('./drawn/captchas');
      const { pictureRouter } = await import('./drawn/picture-router');
      const captchas = new DrawnCaptchas(kept, queues.captchaPictures, settings.answers);
      return { captchas, router: pictureRouter(captchas) };
    }
  }
}
