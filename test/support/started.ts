import { isAlive } from '../../packages/embedded-database/src';
import { usedDataDir } from './clusters';
import { newDataDir, postmasterPid, ServiceProcess, type DataDir, type HowToStart } from './service-process';

let running: ServiceProcess[] = [];
const folders: DataDir[] = [];

/** Starts the service for one test. It is stopped after the test, with everything it has left. */
export async function startService(env: Record<string, string>, how?: HowToStart): Promise<ServiceProcess> {
  const service = ServiceProcess.start(env, how);
  running.push(service);
  return service;
}

export function makeDataDir(): string {
  return removedLater(newDataDir());
}

/** Returns a data folder with a migrated database, for tests of what comes after a first start. */
export function makeUsedDataDir(): string {
  return removedLater(usedDataDir());
}

function removedLater(folder: DataDir): string {
  folders.push(folder);
  return folder.path;
}

afterEach(async () => {
  await Promise.all(running.map((service) => service.stop()));
  // A service that a test has killed leaves its database running.
  for (const { path } of folders) {
    const pid = postmasterPid(path);
    if (pid > 0 && isAlive(pid)) process.kill(pid, 'SIGQUIT');
  }
  running = [];
});

// Not after each test: some file systems make files slowly for a while after many have been deleted.
afterAll(() => folders.forEach((folder) => folder.remove()));
