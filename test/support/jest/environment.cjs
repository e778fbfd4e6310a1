const { appendFileSync } = require('node:fs');
const { join } = require('node:path');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');
const { processorSeconds } = require('./processor.cjs');

const { TEST_RUN, JEST_WORKER_ID } = process.env;
const PROCESSOR = join(__dirname, '..', '..', '..', '.test-output', TEST_RUN, `processor-${JEST_WORKER_ID}.txt`);

/** Globals of Jest, which writes them again for the next file, and of shared packages. */
const KEPT = /^(expect|[fx]?(describe|test|it)|(before|after)(All|Each)|__zod_.*)$/;

/**
 * Runs all test files of a worker in Node's own global scope, so that they can share loaded modules. At the end of a
 * file it restores the scope, and fails the file if that has left a global behind.
 */
module.exports = class OneScope {
  global = globalThis;
  fakeTimers = null;
  before = {
    ...{ console: globalThis.console, exit: process.exit, env: { ...process.env }, cwd: process.cwd() },
    ...{ globals: Object.getOwnPropertyNames(globalThis), exits: process.listeners('exit') },
    processor: processorSeconds(),
  };

  constructor({ projectConfig }, { testPath }) {
    this.testPath = testPath;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    appendFileSync(PROCESSOR, `${processorSeconds() - this.before.processor} ${this.testPath}\n`);
    const { console, exit, env, cwd, globals, exits } = this.before;
    globalThis.console = console;
    process.exit = exit;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    process.chdir(cwd);
    for (const listener of process.listeners('exit')) if (!exits.includes(listener)) process.off('exit', listener);
    // Otherwise each file would add its handlers to those of the files before it.
    delete globalThis[Symbol.for('EVENT_HANDLERS')];
    const left = Object.getOwnPropertyNames(globalThis).filter((name) => !globals.includes(name) && !KEPT.test(name));
    for (const name of left) delete globalThis[name];
    if (left.length > 0) throw new Error(`This file must delete the globals that it makes: ${left.join(', ')}`);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Jest asks for a context, which SharedRuntime does not use. */
  getVmContext() {
    return null;
  }
};
