/** Guards whose tests are in test/browser: see guards.mjs. */
export const guards = {
  // --- pages
  'browser-docs-1': {
    guard: 'the reference has a search',
    file: 'src/web/browser/reference.mjs',
    replace: 'layoutActions.updateFilter(target.value.trim())',
    by: 'layoutActions',
    named: 'finds operations by their path or group',
  },
  'browser-docs-2': {
    guard: 'the reference folds the answers that most operations share',
    file: 'src/web/browser/reference.mjs',
    replace: 'responses.filterNot(isUsual)',
    by: 'responses',
    named: 'shows the answers that most operations share when the user asks',
  },
  // --- the client
  'browser-client-1': {
    guard: 'a logout of the client clears the stores of other tabs',
    file: 'packages/client/src/client.ts',
    replace: 'else this.#clearStores().catch(() => undefined);',
    by: '',
    named: 'reports in all tabs when a session begins and ends, and clears their stores',
  },
  'browser-client-2': {
    guard: 'a tab that missed changes reads everything again',
    file: 'packages/client/src/sync/changes.ts',
    replace: 'known !== before || head?.revision !== after',
    by: 'false',
    named: 'reports in one tab that everything may be different, when it has missed changes',
  },
  'browser-client-3': {
    guard: 'a page does not synchronise by itself after a logout',
    file: 'packages/client/src/sync/store.ts',
    replace: 'this.#returns.forget();',
    by: '',
    named: 'synchronises when it is online again and when its tab is shown, as long as a user is signed in',
  },
  'browser-client-4': {
    guard: 'a store in a page waits for a store in a worker',
    file: 'packages/client/src/sync/lock.ts',
    replace: 'isNode() ? undefined : navigator?.locks',
    by: "isNode() || !('document' in globalThis) ? undefined : navigator?.locks",
    named: 'waits while a worker synchronises',
  },
  'browser-client-5': {
    guard: 'stores in two tabs take turns',
    file: 'packages/client/src/sync/lock.ts',
    replace: '(locks ? locks.request',
    by: '(locks && false ? locks.request',
    named: 'waits while another tab synchronises',
  },
  'browser-client-6': {
    guard: "the lock of the store does not block the app's own locks",
    file: 'packages/client/src/sync/lock.ts',
    replace: '`user-account-service:${sharedAs}:${name}`',
    by: 'name',
    named: 'is not blocked by locks of the app',
  },
  'browser-client-7': {
    guard: 'the client in a page of an allowed origin sends the cookies of the browser',
    file: 'packages/client/src/client.ts',
    replace: "...(!this.#jar && { credentials: 'include' }),",
    by: '',
    named: 'works from an allowed origin, too, and is told why it is refused',
  },
  'browser-client-8': {
    guard: 'a store in memory does not take turns with those of other tabs',
    file: 'packages/client/src/sync/lock.ts',
    replace: "sharedAs === '' ? undefined : webLocks()",
    by: 'webLocks()',
    named: 'keeps each store up to date that shares no storage, of two tabs and of one page',
  },
  'browser-client-9': {
    guard: 'stores in two databases of a page do not take turns',
    file: 'packages/client/src/sync/lock.ts',
    replace: '`user-account-service:${sharedAs}:${name}`',
    by: '`user-account-service:${name}`',
    named: 'keeps each store up to date that shares no storage, of two tabs and of one page',
  },
};
