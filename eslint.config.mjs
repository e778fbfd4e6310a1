import { readdirSync } from 'node:fs';
import { URL } from 'node:url';
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** The layers of src, from the ground up. A file imports from its own layer and from those before it. */
const LAYERS = 'base load database http integrations web features config start composition server'.split(' ');

/** The slices of src/features. One imports from those before it, too. */
const SLICES = [
  ...['phones', 'limits', 'audit', 'users', 'notices', 'images', 'spend-guard', 'verification', 'sessions', 'auth'],
  ...['profile', 'blacklist', 'friendships', 'groups', 'tokens', 'sync', 'account'],
];

/** Globals of browsers or Node that React Native, or some version of it, does not have. */
const NOT_IN_REACT_NATIVE = [
  ...['structuredClone', 'crypto', 'BroadcastChannel', 'indexedDB', 'document', 'localStorage', 'location', 'Buffer'],
  ...['TextEncoderStream', 'TextDecoderStream', 'ReadableStream', 'TransformStream', 'CompressionStream', 'caches'],
  ...[
    'window',
    'self',
    'navigator',
    'sessionStorage',
    'cookieStore',
    'history',
    'matchMedia',
    'Worker',
    'SharedWorker',
  ],
  ...['TextDecoder', 'TextEncoder', 'DOMException', 'Event', 'EventTarget', 'CustomEvent', 'MessageChannel'],
  ...['addEventListener', 'removeEventListener', 'postMessage', 'WritableStream', 'DecompressionStream'],
  ...['atob', 'btoa'],
];

/** Getters of a URL, which throw in React Native. Credentials also have a password, and images a hash. */
const PARTS_OF_URL = ['host', 'hostname', 'origin', 'pathname', 'port', 'protocol', 'search', 'searchParams'];

/** Members that React Native's classes do not have. */
const MEMBERS_NOT_IN_REACT_NATIVE = [
  ...PARTS_OF_URL.map((property) => ({ property, message: "React Native's URL throws: read the text of the address" })),
  ...[
    { object: 'URL', property: 'canParse' },
    { object: 'URL', property: 'parse' },
    { object: 'AbortSignal', property: 'any' },
    { object: 'AbortSignal', property: 'timeout' },
    { property: 'getSetCookie' },
  ].map((member) => ({ ...member, message: 'React Native has none' })),
];

/** What there is in browsers and not in Node. */
const IN_BROWSERS = [
  ...['document', 'navigator', 'fetch', 'URL', 'crypto', 'setTimeout', 'setInterval', 'matchMedia'],
  ...['location', 'history', 'sessionStorage', 'addEventListener'],
];

const sorted = (names) => [...names].sort().join(', ');
const entries = (folder) => readdirSync(new URL(folder, import.meta.url)).map((name) => name.replace(/\.ts$/, ''));
if (sorted(entries('src')) !== sorted(LAYERS)) throw new Error('eslint.config.mjs does not list the layers of src');
if (sorted(entries('src/features')) !== sorted(SLICES)) throw new Error('eslint.config.mjs does not list all slices');

const INSIDE_PACKAGE = {
  regex: '/packages/[^/]+/src/(?!reasons$)',
  message: 'what a package gives away is in its index.ts',
};

function forbidding(files, ...patterns) {
  return { files, rules: { 'no-restricted-imports': ['error', { patterns: [...patterns, INSIDE_PACKAGE] }] } };
}

function above(layer) {
  const higher = LAYERS.slice(LAYERS.indexOf(layer) + 1);
  return { regex: `^\\.{1,2}/(\\.\\./)*(${higher.join('|')})(/|$)`, message: `${layer} is below it (LAYERS)` };
}

function after(slice) {
  const later = SLICES.slice(SLICES.indexOf(slice) + 1);
  if (later.length === 0) return [];
  return [{ regex: `^\\.\\./(${later.join('|')})/`, message: `${slice} is before it (SLICES)` }];
}

/** Of a slice, what a request comes in by. Its other files know nothing of HTTP. */
const DOORS = ['**/*-{router,schemas,cookies}.ts'];
const http = { regex: '/http/', message: 'only routers, schemas and cookies know of HTTP' };

const GUESSABLE = { object: 'Math', property: 'random', message: 'take it from node:crypto, which nobody can guess' };

const message = 'the text of a statement holds constants alone: its values are bound';
const RAW = 'CallExpression[callee.property.name=/^raw$|Raw$/]';
/** What is written into SQL: only names in capitals, and statements that are made when the program starts. */
const WRITTEN_INTO_SQL = [
  { selector: `${RAW} > BinaryExpression.arguments`, message },
  { selector: `${RAW} > TemplateLiteral.arguments > :not(TemplateElement, Identifier[name=/^[A-Z_]+$/])`, message },
  { selector: ':function CallExpression[callee.name="statement"]', message },
];

const directions = [
  ...LAYERS.slice(0, -1).map((layer) => forbidding([`src/${layer}.ts`, `src/${layer}/**`], above(layer))),
  ...SLICES.flatMap((slice) => [
    forbidding([`src/features/${slice}/**`], above('features'), ...after(slice)),
    { ...forbidding([`src/features/${slice}/**`], above('features'), ...after(slice), http), ignores: DOORS },
  ]),
];

export default tseslint.config(
  { ignores: ['**/dist/', '.data/', '.test-output/', '.cache/', 'coverage/', 'packages/client/src/document.ts'] },
  // Compiled beside a generated client alone.
  { ignores: ['test/sdks/lives/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked, ...tseslint.configs.stylistic],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      // Express 5 hands a rejected handler to the error handler by itself.
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
    },
  },
  {
    // Whatever is random here is a code, a token or an id, or might become one: it comes from node:crypto. Whatever a
    // client sends might be SQL.
    files: ['src/**/*.ts'],
    rules: {
      'no-restricted-properties': ['error', GUESSABLE],
      'no-restricted-syntax': ['error', ...WRITTEN_INTO_SQL],
    },
  },
  {
    // Where the environment comes in; everything else is given its settings.
    files: ['src/**/*.ts'],
    ignores: ['src/server.ts'],
    rules: { 'no-restricted-properties': ['error', GUESSABLE, { object: 'process', property: 'env' }] },
  },
  ...directions,
  forbidding(['packages/{embedded-database,image-server}/src/**'], {
    regex: '^\\.\\./',
    message: 'this package knows nothing of the service',
  }),
  forbidding(['packages/client/src/**'], { regex: '^[^.]', message: 'the client depends on nothing' }),
  forbidding(['packages/client/src/react.ts'], {
    regex: '^(?!react$)[^.]',
    message: 'these hooks depend on React alone',
  }),
  {
    files: ['packages/client/src/**'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...NOT_IN_REACT_NATIVE.map((name) => ({
          name,
          message: 'React Native has none: ask globalThis whether it is there',
        })),
      ],
    },
  },
  {
    files: ['packages/client/src/**'],
    // The jar is for Node: browsers and React Native keep the cookies themselves.
    ignores: ['packages/client/src/cookie-jar.ts'],
    rules: { 'no-restricted-properties': ['error', ...MEMBERS_NOT_IN_REACT_NATIVE] },
  },
  {
    files: ['src/web/browser/*.mjs'],
    languageOptions: { globals: Object.fromEntries(IN_BROWSERS.map((name) => [name, 'readonly'])) },
  },
  {
    files: ['**/*.{js,cjs,mjs}'],
    ignores: ['src/web/browser/*.mjs'],
    languageOptions: { globals: { process: 'readonly', module: 'writable', require: 'readonly', console: 'readonly' } },
  },
);
