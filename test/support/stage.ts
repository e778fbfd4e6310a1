import { startApp, type AppOptions, type Env, type TestApp } from './app';
import { TestCluster } from './clusters';
import { instancesBeside, type StartBeside } from './instances';
import { insertAndSignInAll, type SignedInPerson } from './people';

const NICKNAMES = ['Ann', 'Bob', 'Cat', 'Dan', 'Eve'];

interface Options extends AppOptions {
  /** Settings, or a function that makes them when the service starts. */
  env?: Env | (() => Env | Promise<Env>);
  /** The number of people, starting with Ann, who are signed in before each test. */
  people?: number;
  /** Signs the people in once, before all tests. */
  peopleOnce?: boolean;
  /** Starts the service before each test. */
  eachTest?: boolean;
  /** Starts a PostgreSQL for the service: a change is heard once no older transaction is open in the whole cluster. */
  ownCluster?: boolean;
}

type Name = 'ann' | 'bob' | 'cat' | 'dan' | 'eve';
type Stage = {
  app: TestApp;
  /** Starts another instance on the same database and keys, for one test. */
  instance: StartBeside;
} & Record<Name, SignedInPerson>;

/**
 * Starts the service for all tests of this `describe` or file, and signs in people for each test. Most files begin with
 * it. The returned object stands for the app and the people of the running test. Jest runs hooks that clean up in their
 * order: one that needs the service, or its database, stands before this call.
 */
export function stage({
  env = {},
  people: count = 0,
  peopleOnce,
  eachTest,
  ownCluster,
  ...options
}: Options = {}): Stage {
  let app: TestApp | undefined;
  let cluster: TestCluster | undefined;
  let people: SignedInPerson[] = [];
  const started = currentOf(() => app);
  const instance = instancesBeside(() => started);
  const [beforehand, afterwards] = eachTest ? [beforeEach, afterEach] : [beforeAll, afterAll];
  beforehand(async () => {
    // A Citus has no copy.
    if (ownCluster && process.env.TEST_CLUSTER !== undefined) cluster = await TestCluster.startCopy();
    const own = cluster && { databaseUrl: cluster.serviceUrl };
    app = await startApp(typeof env === 'function' ? await env() : env, { ...options, ...own });
  });
  afterwards(async () => {
    await app?.close();
    await cluster?.remove();
  });
  if (count > 0)
    (peopleOnce ? beforeAll : beforeEach)(async () => {
      people = await insertAndSignInAll(started, ...NICKNAMES.slice(0, count));
    });
  const person = (index: number) => currentOf(() => people[index]);
  return { app: started, instance, ann: person(0), bob: person(1), cat: person(2), dan: person(3), eve: person(4) };
}

/** Returns an object that reads and writes what `find` returns at that moment. */
export function currentOf<T extends object>(find: () => T | undefined): T {
  const now = () => {
    const found = find();
    if (found === undefined) throw new Error('this exists only while a test runs');
    return found;
  };
  return new Proxy({} as T, {
    get: (_target, name) => Reflect.get(now(), name) as unknown,
    set: (_target, name, value) => Reflect.set(now(), name, value),
    has: (_target, name) => Reflect.has(now(), name),
    ownKeys: () => Reflect.ownKeys(now()),
    getOwnPropertyDescriptor: (_target, name) => Reflect.getOwnPropertyDescriptor(now(), name),
  });
}
