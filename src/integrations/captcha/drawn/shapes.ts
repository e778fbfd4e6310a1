import { create } from 'svg-captcha';

export type Point = readonly [x: number, y: number];
/** A closed outline. Points inside an odd number of outlines are ink. */
export type Shape = Point[];

const EM = 100;
/** Maximum length of the pieces into which lines and curves are cut, so that they can be bent. */
const PIECE = 3;

// eslint-disable-next-line no-restricted-syntax -- a cache of shapes that depend on nothing else
const letters = new Map<string, Shape[]>();

/** Returns the outlines of a letter as svg-captcha draws it, around 0,0. */
export function letter(text: string): Shape[] {
  const shapes = letters.get(text) ?? drawn(text);
  letters.set(text, shapes);
  return shapes;
}

function drawn(text: string): Shape[] {
  const { data } = create({ size: 1, charPreset: text, noise: 0, width: EM, height: EM, fontSize: EM });
  // The font draws an outline around each letter, with a shadow: only the letter in between is used.
  const all = outlines(/ d="([^"]*)"/.exec(data)?.[1] ?? '');
  const depthOf = (shape: Shape) => all.filter((other) => other !== shape && isIn(other, shape)).length;
  const shapes = all.filter((shape) => [1, 2].includes(depthOf(shape)));
  const [x, y] = [0, 1].map((axis) => middle(shapes.flat().map((point) => point[axis] ?? 0))) as [number, number];
  return moved(shapes, (point) => [point[0] - x, point[1] - y]);
}

export function moved(shapes: Shape[], move: (point: Point) => Point): Shape[] {
  return shapes.map((shape) => shape.map(move));
}

/** Returns a line of some width from point to point, as a shape. */
export function stroke(points: Point[], width: number): Shape {
  const sides = points.map((point, index) => {
    const [from, to] = [points[index - 1] ?? point, points[index + 1] ?? point];
    const length = distance(from, to) || 1;
    const [dx, dy] = [((to[1] - from[1]) * width) / 2 / length, ((from[0] - to[0]) * width) / 2 / length];
    return [
      [point[0] + dx, point[1] + dy],
      [point[0] - dx, point[1] - dy],
    ] as const;
  });
  return [...sides.map(([one]) => one), ...sides.map(([, other]) => other).reverse()];
}

export function path(shapes: Shape[]): string {
  return shapes.map((shape) => `M${shape.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L')}Z`).join('');
}

/** Parses the commands M, L, Q and Z, the only ones in the letters. */
function outlines(commands: string): Shape[] {
  const shapes: Shape[] = [];
  let at: Point = [0, 0];
  for (const [, name, numbers = ''] of commands.matchAll(/([MLQZ])([^MLQZ]*)/g)) {
    const [a = 0, b = 0, c = a, d = b] = (numbers.match(/-?[\d.]+/g) ?? []).map(Number);
    if (name === 'Z') continue;
    if (name === 'M') shapes.push([[a, b]]);
    else shapes.at(-1)?.push(...curve(at, [a, b], [c, d]));
    at = [c, d];
  }
  return shapes;
}

/** Cuts a quadratic curve, which is a straight line if its control point is its end. */
function curve(from: Point, by: Point, to: Point): Point[] {
  const pieces = Math.ceil((distance(from, by) + distance(by, to)) / PIECE);
  return Array.from({ length: pieces }, (_, index) => {
    const t = (index + 1) / pieces;
    const along = (axis: 0 | 1) => (1 - t) ** 2 * from[axis] + 2 * t * (1 - t) * by[axis] + t ** 2 * to[axis];
    return [along(0), along(1)] as const;
  });
}

/** Returns whether `inner` lies inside `outer`. The two must not cross. */
function isIn(outer: Shape, [inner]: Shape): boolean {
  if (!inner) return false;
  const [x, y] = inner;
  let inside = false;
  outer.forEach(([x1, y1], index) => {
    const [x2, y2] = outer.at(index - 1) ?? [x1, y1];
    if (y1 > y !== y2 > y && x < x1 + ((y - y1) * (x2 - x1)) / (y2 - y1)) inside = !inside;
  });
  return inside;
}

function distance(from: Point, to: Point): number {
  return Math.hypot(to[0] - from[0], to[1] - from[1]);
}

function middle(values: number[]): number {
  return (Math.min(...values) + Math.max(...values)) / 2;
}
