import { renderAsync } from '@resvg/resvg-js';
import { create } from 'svg-captcha';

export interface CaptchaImage {
  answer: string;
  png: Buffer;
}

/** Letters that look alike are left out: 0 and O, 1 and I, 2 and Z, 5 and S, 6 and G, 8 and B, U and V. */
const READABLE = '34679ACEFHJKMNPRTWXY';

const DRAWING = { size: 5, charPreset: READABLE, width: 180, height: 60, fontSize: 52, noise: 3 };

/** The PNG has twice the size of the drawing, so that it stays sharp on a phone's screen. */
export async function drawCaptcha(): Promise<CaptchaImage> {
  const { text, data } = create(DRAWING);
  // svg-captcha's own background would turn the dark letters into pale colours.
  const svg = data.replace('>', '><rect width="100%" height="100%" fill="#fff"/>');
  // The letters are drawn as paths; looking for the system's fonts would only cost time.
  const image = await renderAsync(svg, { fitTo: { mode: 'zoom', value: 2 }, font: { loadSystemFonts: false } });
  return { answer: text, png: image.asPng() };
}
