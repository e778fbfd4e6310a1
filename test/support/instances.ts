import { startApp, type Env, type TestApp } from './app';

/** Starts instances on an app's database and with its keys, each for one test. */
export function instancesBeside(app: () => TestApp, common: Env = {}): (env?: Env) => Promise<TestApp> {
  const started: TestApp[] = [];
  afterEach(async () => {
    await Promise.all(started.splice(0).map((instance) => instance.close()));
  });
  return async (env = {}) => {
    const { databaseUrl, dataDir } = app();
    const instance = await startApp({ ...common, ...env }, { databaseUrl, dataDir });
    started.push(instance);
    return instance;
  };
}
