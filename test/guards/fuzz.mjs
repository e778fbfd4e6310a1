/** Guards whose tests are in test/fuzz: see guards.mjs. */
export const guards = {
  // --- claims of docs/security.md that are shown nowhere above
  'fuzz-1': {
    guard: 'no odd request is a failure of ours',
    file: 'src/base/schemas.ts',
    replace: ".refine((value) => !value.includes('\\0'), 'must not contain NUL')",
    by: '',
    named: 'of them get no 5xx',
  },
};
