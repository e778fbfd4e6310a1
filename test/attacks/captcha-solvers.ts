import { Resvg } from '@resvg/resvg-js';
import { create } from 'svg-captcha';
import { letter, moved, path } from '../../src/integrations/captcha/drawn/shapes';
import { inkOf, type Ink } from './ink';

/** Characters of a captcha. An attacker has the source of this service, and of the package it draws with. */
const ALPHABET = [...'34679ACEHKPRT'];
const LETTERS = 6;
const [WIDTH, HEIGHT] = [450, 120];
const PLAIN = { width: WIDTH / 2, height: HEIGHT / 2, fontSize: 52 };

/** Returns a captcha as svg-captcha draws it. */
export function plainCaptcha(): { answer: string; svg: Buffer; png: Buffer } {
  const { text, data } = create({ ...PLAIN, size: LETTERS, charPreset: ALPHABET.join(''), noise: 2 });
  return { answer: text, svg: Buffer.from(data), png: rendered(data) };
}

/** Reads vector drawings from left to right: each letter has its own commands. */
export function readByCommands(served: Buffer): string {
  const commandsOf = (svg: string) =>
    [...svg.matchAll(/ d="M([-\d.]+)([^"]*)"/g)]
      .sort(([, one], [, other]) => Number(one) - Number(other))
      .map(([, , rest = '']) => rest.replace(/[^A-Z]/g, ''));
  const letters = new Map(ALPHABET.map((one) => [commandsOf(plain(one, 1))[0], one]));
  return commandsOf(served.toString('latin1')).reduce((text, commands) => text + (letters.get(commands) ?? ''), '');
}

/** A letter, and how it looks in a grid of cells. */
interface Example {
  one: string;
  form: Float32Array;
}

const SIDE = 12;

/** Compares each of the six places with each letter as svg-captcha draws it there. */
export async function fixedPlaces(): Promise<(png: Buffer) => Promise<string>> {
  const step = WIDTH / (LETTERS + 1);
  const placesOf = (ink: Ink) =>
    Array.from({ length: LETTERS }, (_, place) => {
      const from = Math.round(step * (place + 0.5));
      return ink.cells(from, 0, Math.round(from + step), HEIGHT, SIDE);
    });
  const drawn = await Promise.all(
    ALPHABET.map(async (one) => ({ one, forms: placesOf(await inkOf(rendered(plain(one, LETTERS)))) })),
  );
  return async (png) =>
    placesOf(await inkOf(png))
      .map((form, place) => {
        const examples = drawn.map(({ one, forms }) => ({ one, form: forms[place] ?? form }));
        return nearest(form, examples).one;
      })
      .join('');
}

/** How a letter may stand: its turn and its lean. */
const STANDS = [-0.35, -0.2, -0.07, 0.07, 0.2, 0.35].flatMap((turn) =>
  [-0.2, -0.07, 0.07, 0.2].map((lean) => [turn, lean]),
);
const THIN = 3;
const GRID = 5;

/**
 * Removes thin lines, cuts the ink into six pieces where these look most like letters, and takes the nearest of many
 * turned and leaning examples of each letter.
 */
export async function nearestLetters(): Promise<(png: Buffer) => Promise<string>> {
  const examples = await Promise.all(
    ALPHABET.flatMap((one) =>
      STANDS.map(async ([turn = 0, lean = 0]) => ({ one, form: await standing(one, turn, lean) })),
    ),
  );
  return async (png) => {
    const ink = (await inkOf(png)).opened(THIN);
    const seen = new Map<number, { one: string; by: number }>();
    const piece = (from: number, to: number) => {
      const key = from * WIDTH * 2 + to;
      const found = seen.get(key) ?? nearest(ink.form(from, Math.min(to, WIDTH), SIDE), examples);
      seen.set(key, found);
      return found;
    };
    return bestCut(ink, piece);
  };
}

/** Finds the best cut by dynamic programming over the columns at which a letter may end. */
function bestCut(ink: Ink, piece: (from: number, to: number) => { one: string; by: number }): string {
  const inked = (x: number) => ink.count(x, 0, x + 1, HEIGHT) > 0;
  const columns = Array.from({ length: WIDTH }, (_, x) => x).filter(inked);
  const [first = 0, last = 0] = [columns[0], columns.at(-1)];
  let best = new Map([[first, { by: 0, text: '' }]]);
  for (let letters = 1; letters <= LETTERS; letters += 1) {
    const ends = new Map<number, { by: number; text: string }>();
    for (const [end, { by, text }] of best)
      for (let to = end + 25; to <= Math.min(end + 125, last + GRID); to += GRID) {
        if (letters === LETTERS && to < last - GRID) continue;
        // Letters overlap: one may begin a little before the other has ended.
        for (const from of [end, Math.max(first, end - 8)]) {
          const found = piece(from, to);
          const total = by + found.by;
          const known = ends.get(to);
          if (!known || total < known.by) ends.set(to, { by: total, text: text + found.one });
        }
      }
    best = ends;
  }
  return [...best.values()].sort((one, other) => one.by - other.by)[0]?.text ?? '';
}

function nearest(form: Float32Array, examples: Example[]): { one: string; by: number } {
  let [one, by] = ['', form.length];
  for (const example of examples) {
    let distance = 0;
    for (let index = 0; index < form.length && distance < by; index += 1)
      distance += ((form[index] ?? 0) - (example.form[index] ?? 0)) ** 2;
    if (distance < by) [one, by] = [example.one, distance];
  }
  return { one, by };
}

function plain(letter: string, size: number): string {
  return create({ ...PLAIN, size, charPreset: letter, noise: 0 }).data;
}

async function standing(one: string, turn: number, lean: number): Promise<Float32Array> {
  const [sin, cos] = [Math.sin(turn), Math.cos(turn)];
  const shapes = moved(letter(one), ([x, y]) => [
    WIDTH / 2 + (x + y * lean) * cos - y * sin,
    HEIGHT / 2 + (x + y * lean) * sin + y * cos,
  ]);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}"><path fill-rule="evenodd" d="${path(shapes)}"/></svg>`;
  return (await inkOf(rendered(svg))).form(0, WIDTH, SIDE);
}

function rendered(svg: string): Buffer {
  const options = {
    fitTo: { mode: 'width', value: WIDTH },
    background: '#fff',
    font: { loadSystemFonts: false },
  } as const;
  return new Resvg(svg, options).render().asPng();
}
