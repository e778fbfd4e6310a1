import { startApp, type AppOptions, type Env, type TestApp } from './app';

export type StartBeside = (
  env?: Env,
  options?: Pick<AppOptions, 'patience' | 'deadlineMs' | 'vendorTimeoutMs' | 'realSms'>,
) => Promise<TestApp>;

/** Starts instances on an app's database and with its keys and these settings, each for one test. */
export function instancesBeside(app: () => TestApp, common: Env = {}): StartBeside {
  const started: TestApp[] = [];
  afterEach(async () => {
    await Promise.all(started.splice(0).map((instance) => instance.close()));
  });
  return async (env = {}, options = {}) => {
    const { databaseUrl, dataDir } = app();
    const instance = await startApp({ ...common, ...env }, { databaseUrl, dataDir, ...options });
    started.push(instance);
    return instance;
  };
}
