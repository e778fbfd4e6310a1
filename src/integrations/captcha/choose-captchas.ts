import type { Router } from 'express';
import type { Captchas } from './captchas';
import type { KeptCaptchas } from './drawn-captchas';

interface Parts {
  /** Where drawn ones are kept. */
  kept: KeptCaptchas;
}

/** The captchas, and a router for what clients show of them. */
export async function chooseCaptchas({ kept }: Parts): Promise<{ captchas: Captchas; shown: Router }> {
  const { DrawnCaptchas } = await import('./drawn-captchas');
  const { pictureRouter } = await import('./picture-router');
  const captchas = new DrawnCaptchas(kept);
  return { captchas, shown: pictureRouter(captchas) };
}
