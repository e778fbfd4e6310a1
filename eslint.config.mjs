import { readdirSync } from 'node:fs';
import { URL } from 'node:url';
import js from '@eslint/js';
import tseslint from 'typescript-eslint';
import { circleIn, circleOfFolders } from './scripts/check/circles.mjs';

/** Layers of src, from the bottom up. A file imports only from its own layer and lower ones. */
const LAYERS = (
  'base load database http integrations web foundation features config start composition admin run images-server ' +
  'accounts-server server'
).split(' ');

/** Globals of browsers or Node that React Native, or some version of it, does not have. */
const NOT_IN_REACT_NATIVE = (
  'structuredClone crypto BroadcastChannel indexedDB document localStorage location Buffer TextEncoderStream ' +
  'TextDecoderStream ReadableStream TransformStream CompressionStream caches window self navigator sessionStorage ' +
  'cookieStore history matchMedia Worker SharedWorker TextDecoder TextEncoder DOMException Event EventTarget ' +
  'CustomEvent MessageChannel addEventListener removeEventListener postMessage WritableStream DecompressionStream ' +
  'atob btoa'
).split(' ');

/** Getters of a URL that throw in React Native. Not `password` and `hash`, which credentials and images also have. */
const PARTS_OF_URL = ['host', 'hostname', 'origin', 'pathname', 'port', 'protocol', 'search', 'searchParams'];

/** Members that React Native's classes do not have. */
const MEMBERS_NOT_IN_REACT_NATIVE = [
  ...PARTS_OF_URL.map((property) => ({ property, message: "React Native's URL throws: read the text of the address" })),
  { object: 'URL', property: 'canParse', message: 'React Native has none' },
  { object: 'URL', property: 'parse', message: 'React Native has none' },
  { object: 'AbortSignal', property: 'any', message: 'React Native has none' },
  { object: 'AbortSignal', property: 'timeout', message: 'React Native has none' },
  { property: 'getSetCookie', message: 'React Native has none' },
];

/** Globals of browsers. */
const IN_BROWSERS = (
  'document navigator fetch URL crypto setTimeout setInterval clearInterval matchMedia location history sessionStorage ' +
  'addEventListener'
).split(' ');

const sorted = (names) => [...names].sort().join(', ');
const entries = (folder) => readdirSync(new URL(folder, import.meta.url)).map((name) => name.replace(/\.ts$/, ''));
if (sorted(entries('src')) !== sorted(LAYERS)) throw new Error('eslint.config.mjs does not list the layers of src');

for (const folder of ['src', 'packages/client/src', 'packages/embedded-database/src', 'packages/image-server/src']) {
  const circle = circleIn(new URL(folder, import.meta.url).pathname);
  if (circle) throw new Error(`files import each other: ${circle.join(' → ')}`);
}
const slices = circleOfFolders(new URL('src/features', import.meta.url).pathname);
if (slices) throw new Error(`slices import each other: ${slices.join(' → ')}`);

const INSIDE_PACKAGE = {
  regex: '/packages/[^/]+/src/(?!reasons$)',
  message: 'import a package only through its index.ts',
};

function forbidding(files, ...patterns) {
  return { files, rules: { 'no-restricted-imports': ['error', { patterns: [...patterns, INSIDE_PACKAGE] }] } };
}

function above(layer) {
  const higher = LAYERS.slice(LAYERS.indexOf(layer) + 1);
  return { regex: `^\\.{1,2}/(\\.\\./)*(${higher.join('|')})(/|$)`, message: `${layer} is below it (LAYERS)` };
}

/** Files of a slice that receive requests. Its other files do not depend on HTTP. */
const DOORS = ['**/*-{router,schemas,cookies}.ts'];
const http = { regex: '/http/', message: 'only routers, schemas and cookies may import HTTP' };

const GUESSABLE = { object: 'Math', property: 'random', message: 'use node:crypto: its values cannot be guessed' };

const message = 'the text of a statement contains only constants: bind its values';
const RAW = 'CallExpression[callee.property.name=/^raw$|Raw$/]';
/** Rules for SQL: only constants in capitals, and statements that are made when the program starts. */
const WRITTEN_INTO_SQL = [
  { selector: `${RAW} > BinaryExpression.arguments`, message },
  { selector: `${RAW} > TemplateLiteral.arguments > :not(TemplateElement, Identifier[name=/^[A-Z_]+$/])`, message },
  { selector: ':function CallExpression[callee.name="statement"]', message },
];

const AT_TOP = ':matches(Program, Program > ExportNamedDeclaration) > VariableDeclaration';
const EMPTY =
  ':matches(NewExpression[callee.name=/^(Map|Set)$/][arguments.length=0], ArrayExpression[elements.length=0])';
const state = 'a module keeps no state, since tests share it (test/support/jest): keep it in an object';
/** Rules against state of modules: a variable, and a collection that is empty until something is added. */
const STATE = [
  { selector: `${AT_TOP}[kind!="const"]`, message: state },
  { selector: `${AT_TOP} > VariableDeclarator > ${EMPTY}`, message: state },
];

/** Functions that do nothing to modules which the test files of a worker share. */
const MOCKING = ['mock', 'doMock', 'unmock', 'resetModules', 'isolateModules', 'isolateModulesAsync'];

const directions = [
  ...LAYERS.slice(0, -1).map((layer) => forbidding([`src/${layer}.ts`, `src/${layer}/**`], above(layer))),
  { ...forbidding(['src/features/**'], above('features'), http), ignores: DOORS },
];

export default tseslint.config(
  { ignores: ['**/dist/', '.data/', '.test-output/', '.cache/', 'coverage/', 'packages/client/src/document.ts'] },
  // Compiled only next to a generated client.
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
      // Express 5 passes a rejected handler to the error handler by itself.
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
    },
  },
  {
    // Random values here are codes, tokens or ids, or might become one: they come from node:crypto. Any input of a
    // client might be SQL.
    files: ['src/**/*.ts'],
    rules: {
      'no-restricted-properties': ['error', GUESSABLE],
      'no-restricted-syntax': ['error', ...WRITTEN_INTO_SQL, ...STATE],
    },
  },
  { files: ['packages/*/src/**/*.ts'], rules: { 'no-restricted-syntax': ['error', ...STATE] } },
  {
    files: ['{test,packages/*/test}/**/*.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        ...MOCKING.map((property) => ({ object: 'jest', property, message: 'modules are shared: spy on the object' })),
      ],
    },
  },
  {
    // Only these read the environment; all other files are given their settings.
    files: ['src/**/*.ts'],
    ignores: ['src/{run,server}.ts', 'src/base/command-line.ts'],
    rules: { 'no-restricted-properties': ['error', GUESSABLE, { object: 'process', property: 'env' }] },
  },
  ...directions,
  // The settings of every vendor are loaded at each start.
  forbidding(['src/integrations/*/*/settings.ts'], {
    regex: '^(?!zod$|node:|(\\.\\./){3}base/|\\.\\./[a-z-]+/settings$)',
    message: 'settings need only base and zod: the rest of a vendor is loaded where it is used',
  }),
  forbidding(['packages/{embedded-database,image-server}/src/**'], {
    regex: '^\\.\\./',
    message: 'this package does not depend on the service',
  }),
  forbidding(['packages/client/src/**'], { regex: '^[^.]', message: 'the client has no dependencies' }),
  forbidding(['packages/client/src/react.ts'], {
    regex: '^(?!react$)[^.]',
    message: 'these hooks depend only on React',
  }),
  {
    files: ['packages/client/src/**'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...NOT_IN_REACT_NATIVE.map((name) => ({
          name,
          message: 'React Native has none: check globalThis for it',
        })),
      ],
    },
  },
  {
    files: ['packages/client/src/**'],
    // The jar is for Node: browsers and React Native store cookies themselves.
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
    languageOptions: {
      globals: {
        process: 'readonly',
        module: 'writable',
        exports: 'readonly',
        require: 'readonly',
        __dirname: 'readonly',
        console: 'readonly',
        fetch: 'readonly',
      },
    },
  },
);
