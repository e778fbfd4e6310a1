/** How much the tests with random or many requests do: a fifth by default, all in .ci/run, and more each night. */
const LOAD = Number(process.env.TEST_LOAD ?? 0.2);
if (!(LOAD > 0)) throw new Error(`TEST_LOAD is a number above 0, and not ${process.env.TEST_LOAD}`);

/** Returns `whole` with TEST_LOAD=1, and otherwise as much more or less, from `least` to `most`. */
export function amount(whole: number, least = 1, most = Infinity): number {
  return Math.min(most, Math.max(least, Math.round(whole * LOAD)));
}
