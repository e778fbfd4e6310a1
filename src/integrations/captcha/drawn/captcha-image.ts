import { randomInt } from 'node:crypto';
import { renderAsync } from '@resvg/resvg-js';
import { letter, moved, path, stroke, type Point, type Shape } from './shapes';

export interface CaptchaImage {
  answer: string;
  png: Buffer;
}

/** Letters that can be told apart even when they are bent and crossed by lines. */
const READABLE = '34679ACEHKPRT';
const LETTERS = 6;

const WIDTH = 450;
const HEIGHT = 120;
const FULL_TURN = 2 * Math.PI;

/** Draws a captcha, in about ten milliseconds of processor time. */
export async function drawCaptcha(): Promise<CaptchaImage> {
  const answer = Array.from({ length: LETTERS }, () => READABLE[randomInt(READABLE.length)]).join('');
  const bend = smoothField();
  const bent = (shapes: Shape[]) => `<path d="${path(moved(shapes, bend))}"/>`;
  const letters = lineOf(answer).map(bent).join('');
  // One thin and one thick line have the ink of the letters; two lines in the colour of the paper cut them.
  const noise = [between(2, 3.5), between(4.5, 6.5)].map((width) => bent([stroke(wave(), width)])).join('');
  const cuts = [between(1.5, 2.5), between(1.5, 2.5)].map((width) => bent([stroke(wave(), width)])).join('');
  const ink = `hsl(${randomInt(360)} ${randomInt(30, 90)}% ${randomInt(20, 38)}%)`;
  const paper = `hsl(${randomInt(360)} ${randomInt(20, 60)}% ${randomInt(90, 97)}%)`;
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">` +
    `<rect width="100%" height="100%" fill="${paper}"/>` +
    `<g fill="${ink}" fill-rule="evenodd" stroke="${ink}" stroke-width="${between(0, 1.5)}">${letters}</g>` +
    `<g fill="${paper}">${cuts}</g><g fill="${ink}">${noise}</g></svg>`;
  // The picture has no text elements: loading the system's fonts would only cost time.
  const image = await renderAsync(svg, { font: { loadSystemFonts: false } });
  return { answer, png: image.asPng() };
}

/** Lays out letters of random sizes, turned, slanted, moved up and down, and so close that they overlap. */
function lineOf(text: string): Shape[][] {
  const letters = [...text].map((one) => {
    const [turn, lean] = [between(-0.35, 0.35), between(-0.2, 0.2)];
    const [sin, cos] = [Math.sin(turn), Math.cos(turn)];
    const turned = moved(letter(one), ([x, y]) => [(x + y * lean) * cos - y * sin, (x + y * lean) * sin + y * cos]);
    const tall = between(70, 94) / extent(turned, 1).span;
    const wide = tall * between(0.85, 1.15);
    return moved(turned, ([x, y]) => [x * wide, y * tall]);
  });
  const steps = letters.map((shapes) => extent(shapes, 0).span * between(0.81, 0.93));
  const total = steps.reduce((sum, step) => sum + step, 0);
  const squeeze = Math.min(1, (WIDTH - 36) / total);
  let at = between(8, WIDTH - 28 - total * squeeze);
  return letters.map((shapes, index) => {
    const [x, y] = [extent(shapes, 0), extent(shapes, 1)];
    const [left, top] = [at - x.least * squeeze, between(8, HEIGHT - 8 - y.span) - y.least];
    at += (steps[index] ?? 0) * squeeze;
    return moved(shapes, (point) => [left + point[0] * squeeze, top + point[1]]);
  });
}

function extent(shapes: Shape[], axis: 0 | 1): { least: number; span: number } {
  const values = shapes.flat().map((point) => point[axis]);
  const least = Math.min(...values);
  return { least, span: Math.max(...values) - least };
}

/** Returns a wave from the left edge to the right one. */
function wave(): Point[] {
  const [middle, height, slope] = [between(25, HEIGHT - 25), between(8, 30), between(-0.2, 0.2)];
  const [length, phase] = [between(80, 260), between(0, FULL_TURN)];
  return Array.from({ length: 60 }, (_, index) => {
    const x = (index * WIDTH) / 59;
    return [x, middle + (x - WIDTH / 2) * slope + height * Math.sin((x * FULL_TURN) / length + phase)];
  });
}

/** Returns a function that moves each point a little, and neighbours by similar amounts. */
function smoothField(): (point: Point) => Point {
  const [across, down] = [swings(), swings()];
  return (point) => [point[0] + across(point), point[1] + down(point)];
}

/** Returns the sum of two waves in random directions. */
function swings(): (point: Point) => number {
  const waves = [0, 1].map(() => {
    const [angle, length, phase] = [between(0, FULL_TURN), between(45, 130), between(0, FULL_TURN)];
    const turns = FULL_TURN / length;
    return { x: turns * Math.cos(angle), y: turns * Math.sin(angle), phase, by: length / 20 };
  });
  return ([x, y]) => waves.reduce((sum, one) => sum + one.by * Math.sin(x * one.x + y * one.y + one.phase), 0);
}

/** Returns a random number. Does not use Math.random, whose values can be predicted from earlier ones. */
function between(least: number, most: number): number {
  return least + ((most - least) * randomInt(1_000_000)) / 1_000_000;
}
