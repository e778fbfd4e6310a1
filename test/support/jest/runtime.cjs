const { createRequire } = require('node:module');
const { dirname, join } = require('node:path');
const { compileFunction, constants } = require('node:vm');
const { default: Runtime } = require('jest-runtime');

const ROOT = join(__dirname, '..', '..', '..');

/**
 * Modules that the test files of a worker load once: packages, also where node_modules is a link, and what src holds,
 * which keeps no state (the linter refuses it). Tests and their helpers are loaded for each file: helpers register
 * hooks, and `jest` belongs to a file.
 */
const SHARED = new RegExp(
  `/node_modules/|^${ROOT.replace(/\W/g, '\\$&')}/((.*/)?src/|test/support/(as-documented|document)\\.ts$)`,
);
const sharedPaths = new Map();

/** The runtime of the file that runs. It compiles shared modules, too: by Jest's transform and its cache. */
let current;
require.extensions['.ts'] = (module, file) => module._compile(current.transformCache.transform(file), file);

/** Jest's runtime, but it loads shared modules with Node's own `require`. */
module.exports = class SharedRuntime extends Runtime {
  constructor(...args) {
    super(...args);
    // A stack may lead through shared modules, which an earlier file has loaded.
    for (const [file, map] of current?.getSourceMaps() ?? []) this.getSourceMaps().set(file, map);
    current = this;
    this.executor.compile = (source, filename) =>
      compileFunction(source, this.executor.injectedModuleParameters, {
        filename,
        importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      });
  }

  requireModuleOrMock(from, name) {
    const path = sharedPath(from, name);
    return path === undefined ? super.requireModuleOrMock(from, name) : require(path);
  }

  requireInternalModule(from, name) {
    return name === undefined ? require(from) : createRequire(from)(name);
  }

  /** Leaves Node's `process` as it is: Jest would have its `getBuiltinModule` end with the file. */
  installGetBuiltinModule() {}

  teardown() {
    super.teardown();
    // Jest keeps the tests of a file in these modules.
    for (const path of Object.keys(require.cache)) if (path.includes('/jest-circus/')) delete require.cache[path];
  }
};

function sharedPath(from, name) {
  if (name === '@jest/globals') return undefined;
  const key = `${dirname(from)}\0${name}`;
  if (!sharedPaths.has(key)) {
    const path = createRequire(from).resolve(name);
    sharedPaths.set(key, SHARED.test(path) ? path : undefined);
  }
  return sharedPaths.get(key);
}
