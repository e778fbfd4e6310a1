/** A target: at least or at most so much. A value that could not be measured decides nothing. */
export const atLeast = (name, target, value) => check(name, 'at least', target, value, (known) => known >= target);

export const atMost = (name, target, value) => check(name, 'at most', target, value, (known) => known <= target);

/** Every answer counts, also those of thrown out measurements. */
export function noErrors(measurements) {
  const failed = measurements.reduce((sum, { errors }) => sum + errors, 0);
  return atMost('answers that failed', 0, failed);
}

function check(name, kind, target, value, test) {
  const known = Number.isFinite(value) ? value : undefined;
  return { name, kind, target, value: known, isMet: known === undefined ? undefined : test(known) };
}
