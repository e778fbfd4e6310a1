import { middle } from './measure.mjs';

/** A target: at least or at most so much. A value that could not be measured decides nothing. */
export const atLeast = (name, target, value) => check(name, 'at least', target, value, (known) => known >= target);

export const atMost = (name, target, value) => check(name, 'at most', target, value, (known) => known <= target);

function check(name, kind, target, value, test) {
  const known = Number.isFinite(value) ? value : undefined;
  return { name, kind, target, value: known, isMet: known === undefined ? undefined : test(known) };
}

/** Rows of a table about some runs, each with its unit and what it shows of a run. */
export function figuresOf(runs, rows) {
  return rows.map(([name, unit, of]) => ({ name, unit, values: runs.map(of) }));
}

/** Targets for the medians of what such rows show. */
export function mostOf(runs, rows) {
  return rows.map(([name, target, of]) => atMost(name, target, middle(runs, of)));
}
