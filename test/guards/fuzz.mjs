/** Guards whose tests are in test/fuzz: see guards.mjs. */
export const guards = {
  // --- claims of docs/security.md that no guard above shows
  'fuzz-1': {
    guard: 'an odd request does not cause an error of the service',
    file: 'src/base/schemas.ts',
    replace: ".refine((value) => !value.includes('\\0'), 'must not contain NUL')",
    by: '',
    named: 'get no 5xx',
  },
};
