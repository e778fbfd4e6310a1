import { posix } from 'node:path';
import { createContext, runInContext, type Context } from 'node:vm';
import { transformSync } from '@swc/core';
import type { ClientStorage } from '../../packages/client/src/index.ts';
import { builtClient } from './built-client';
import { rememberSecret } from './secrets';

type Package = typeof import('../../packages/client/src/index.ts');

/**
 * Features later than ES2021, and features that engines of React Native lacked: JavaScriptCore has no Object.hasOwn
 * (callstackincubator/react-native-harness, 53), Hermes no async iterators (facebook/hermes, doc/Features.md and 1879).
 */
const LATER = [
  'Object.hasOwn',
  'Object.groupBy',
  'Map.groupBy',
  'Promise.withResolvers',
  'Promise.try',
  'Array.fromAsync',
  ...['at', 'findLast', 'findLastIndex', 'toSorted', 'toReversed', 'toSpliced', 'with'].map(
    (name) => `Array.prototype.${name}`,
  ),
  ...['at', 'isWellFormed', 'toWellFormed'].map((name) => `String.prototype.${name}`),
  ...['Iterator', 'WebAssembly', 'SharedArrayBuffer', 'Atomics', 'FinalizationRegistry'].map(
    (name) => `globalThis.${name}`,
  ),
];

const ENGINE = `
${LATER.map((name) => `delete ${name};`).join('\n')}
{
  const before = Symbol;
  const { asyncIterator, ...kept } = Object.getOwnPropertyDescriptors(before);
  globalThis.Symbol = Object.defineProperties(function (text) { return before(text); }, kept);
}
`;

/** The part of React Native's URL that does not throw (Libraries/Blob/URL.js up to React Native 0.72 and later). */
class HalfUrl {
  readonly href: string;

  constructor(url: string) {
    this.href = url.endsWith('/') ? url : `${url}/`;
  }

  toString(): string {
    return this.href;
  }
}
for (const name of ['hash', 'host', 'hostname', 'origin', 'pathname', 'port', 'protocol', 'search', 'username'])
  Object.defineProperty(HalfUrl.prototype, name, {
    get: () => {
      throw new Error(`URL.${name} is not implemented`);
    },
  });

interface File {
  uri: string;
  name: string;
  type: string;
}

/** React Native's FormData (Libraries/Network/FormData.js), which has texts, and files by their address. */
class NativeForm {
  readonly parts: [name: string, value: string | File][] = [];

  append(name: string, value: string | File): void {
    this.parts.push([name, value]);
  }
}

/** The response of whatwg-fetch, which is React Native's fetch: without a stream of the body or a list of cookies. */
class WholeResponse {
  readonly #text: string;
  readonly status: number;
  readonly headers: { get(name: string): string | null };

  constructor({ status, headers }: Response, text: string) {
    this.#text = text;
    this.status = status;
    this.headers = { get: (name) => headers.get(name) };
  }

  async text(): Promise<string> {
    return this.#text;
  }
}

let bundle: Map<string, string> | undefined;

/** Bundles the packed modules as Metro does: CommonJS, without syntax that Hermes cannot read. */
function bundleClient(): Map<string, string> {
  const options = {
    jsc: { target: 'es2017', parser: { syntax: 'ecmascript' } },
    module: { type: 'commonjs' },
  } as const;
  bundle ??= new Map([...builtClient()].map(([name, text]) => [name, transformSync(text, options).code]));
  return bundle;
}

/** A phone. The cookies of its system and AsyncStorage outlive the app. */
export class Device {
  readonly files = new Map<string, Uint8Array<ArrayBuffer>>();
  /** The requested paths. */
  readonly asked: string[] = [];
  readonly #cookies = new Map<string, string>();
  readonly #stored = new Map<string, string>();

  /** Starts a new process of an app with the client. */
  start(): Package {
    const context = createContext({
      console,
      setTimeout,
      clearTimeout,
      setInterval,
      clearInterval,
      setImmediate,
      queueMicrotask,
      AbortController,
      AbortSignal,
      URL: HalfUrl,
      FormData: NativeForm,
      Response: WholeResponse,
      fetch: (url: string, init: RequestInit) => this.#fetch(url, init),
      navigator: { product: 'ReactNative' },
      process: { env: { NODE_ENV: 'production' } },
    });
    runInContext(ENGINE, context);
    return loadModule('index.js', context, new Map()) as Package;
  }

  /** Three methods of AsyncStorage, which stores only texts. */
  get asyncStorage(): ClientStorage {
    const later = () => new Promise((resolve) => setImmediate(resolve));
    return {
      getItem: async (key) => {
        await later();
        return this.#stored.get(key) ?? null;
      },
      setItem: async (key, value) => {
        await later();
        if (typeof value !== 'string') throw new TypeError('AsyncStorage keeps texts');
        this.#stored.set(key, value);
      },
      removeItem: async (key) => {
        await later();
        this.#stored.delete(key);
      },
    };
  }

  get storedKeys(): string[] {
    return [...this.#stored.keys()];
  }

  /** Resolves when the whole answer has arrived. Follows redirects, whatever the options say. */
  async #fetch(
    url: string,
    { method = 'GET', headers, body, signal, credentials }: RequestInit,
  ): Promise<WholeResponse> {
    const { pathname } = new URL(url);
    this.asked.push(pathname);
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const sent = {
      method,
      headers: { ...(headers as object), ...(credentials !== 'omit' && cookie !== '' && { Cookie: cookie }) },
      body: (body as unknown) instanceof NativeForm ? this.#read(body as unknown as NativeForm) : (body ?? null),
      signal: signal ?? null,
    };
    try {
      const answer = await fetch(url, sent);
      for (const line of answer.headers.getSetCookie()) this.#keep(line);
      return new WholeResponse(answer, await answer.text());
    } catch {
      if (signal?.aborted) throw Object.assign(new Error('Aborted'), { name: 'AbortError' });
      throw new TypeError('Network request failed');
    }
  }

  #keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === '') this.#cookies.delete(name);
    else this.#cookies.set(name, rememberSecret(value));
  }

  #read({ parts }: NativeForm): FormData {
    const form = new FormData();
    for (const [name, value] of parts) {
      if (typeof value === 'string') form.append(name, value);
      else form.append(name, new Blob([this.files.get(value.uri) ?? ''], { type: value.type }), value.name);
    }
    return form;
  }
}

function loadModule(name: string, context: Context, loaded: Map<string, object>): object {
  const before = loaded.get(name);
  if (before) return before;
  const exports = {};
  loaded.set(name, exports);
  const require = (other: string) => loadModule(posix.join(posix.dirname(name), other), context, loaded);
  const text = `(function (exports, require) {${bundleClient().get(name) ?? ''}\n})`;
  const run = runInContext(text, context, { filename: name }) as (exports: object, require: unknown) => void;
  run(exports, require);
  return exports;
}
