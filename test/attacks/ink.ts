import sharp from 'sharp';

/** Ink of a picture: which pixels have it, and how many of any rectangle. */
export class Ink {
  /** For each corner, the number of inked pixels above and to the left of it. */
  private readonly sums: Uint32Array;

  constructor(
    readonly width: number,
    readonly height: number,
    isInk: (x: number, y: number) => boolean,
  ) {
    const [sums, row] = [new Uint32Array((width + 1) * (height + 1)), width + 1];
    for (let y = 1; y <= height; y += 1)
      for (let x = 1, inRow = 0; x <= width; x += 1) {
        if (isInk(x - 1, y - 1)) inRow += 1;
        sums[y * row + x] = (sums[(y - 1) * row + x] ?? 0) + inRow;
      }
    this.sums = sums;
  }

  /** Counts the ink of a rectangle, without the last column and the last row. */
  count(left: number, top: number, right: number, bottom: number): number {
    const [sums, row] = [this.sums, this.width + 1];
    const upTo = (x: number, y: number) => sums[y * row + x] ?? 0;
    return upTo(right, bottom) - upTo(left, bottom) - upTo(right, top) + upTo(left, top);
  }

  /** Returns the ink without parts thinner than twice the radius. */
  opened(radius: number): Ink {
    const all = (2 * radius + 1) ** 2;
    const thinned = this.bySquares(radius, (count) => count === all);
    return thinned.bySquares(radius, (count) => count > 0);
  }

  /** Returns the share of ink in each of `side` by `side` cells of a rectangle. */
  cells(left: number, top: number, right: number, bottom: number, side: number): Float32Array {
    const edges = (least: number, most: number) =>
      Array.from({ length: side + 1 }, (_, index) => Math.round(least + ((most - least) * index) / side));
    const [xs, ys] = [edges(left, right), edges(top, bottom)];
    return Float32Array.from({ length: side * side }, (_, cell) => {
      const [column, row] = [cell % side, (cell - (cell % side)) / side];
      const [x1 = 0, x2 = 0, y1 = 0, y2 = 0] = [xs[column], xs[column + 1], ys[row], ys[row + 1]];
      return this.count(x1, y1, x2, y2) / ((x2 - x1) * (y2 - y1) || 1);
    });
  }

  /** Like `cells`, for the ink between two columns, without empty edges. */
  form(from: number, to: number, side: number): Float32Array {
    let [left, right, top, bottom] = [from, to, 0, this.height];
    if (this.count(left, top, right, bottom) === 0) return new Float32Array(side * side);
    while (this.count(left, top, left + 1, bottom) === 0) left += 1;
    while (this.count(right - 1, top, right, bottom) === 0) right -= 1;
    while (this.count(left, top, right, top + 1) === 0) top += 1;
    while (this.count(left, bottom - 1, right, bottom) === 0) bottom -= 1;
    return this.cells(left, top, right, bottom, side);
  }

  private bySquares(radius: number, isInk: (count: number) => boolean): Ink {
    const [width, height] = [this.width, this.height];
    const within = (value: number, most: number) => (value < 0 ? 0 : value > most ? most : value);
    return new Ink(width, height, (x, y) => {
      const [left, right] = [within(x - radius, width), within(x + radius + 1, width)];
      const [top, bottom] = [within(y - radius, height), within(y + radius + 1, height)];
      return isInk(this.count(left, top, right, bottom));
    });
  }
}

/** Takes for ink all that is darker than halfway between the lightest and the darkest. */
export async function inkOf(png: Buffer): Promise<Ink> {
  const { data, info } = await sharp(png).greyscale().normalise().raw().toBuffer({ resolveWithObject: true });
  return new Ink(info.width, info.height, (x, y) => (data[(y * info.width + x) * info.channels] ?? 0) < 128);
}
