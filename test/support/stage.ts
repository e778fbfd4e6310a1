import { startApp, type Env, type TestApp } from './app';
import { insertAndSignIn, type SignedInPerson } from './people';

const NICKNAMES = ['Ann', 'Bob', 'Cat', 'Dan', 'Eve'];

interface Options {
  env?: Env;
  /** The number of people, starting with Ann, who are signed in before each test. */
  people?: number;
}

type Name = 'ann' | 'bob' | 'cat' | 'dan' | 'eve';
type Stage = { app: TestApp } & Record<Name, SignedInPerson>;

/**
 * Starts the service for all tests of this `describe` or file, and signs in people for each test. Most files begin with
 * it. The returned object stands for the app and the people of the running test.
 */
export function stage({ env = {}, people: count = 0 }: Options = {}): Stage {
  let app: TestApp | undefined;
  let people: SignedInPerson[] = [];
  const started = currentOf(() => app);
  beforeAll(async () => {
    app = await startApp(env);
  });
  afterAll(() => app?.close());
  if (count > 0)
    beforeEach(async () => {
      people = [];
      for (const name of NICKNAMES.slice(0, count)) people.push(await insertAndSignIn(started, name));
    });
  const person = (index: number) => currentOf(() => people[index]);
  return { app: started, ann: person(0), bob: person(1), cat: person(2), dan: person(3), eve: person(4) };
}

/** Returns an object that reads and writes what `find` returns at that moment. */
function currentOf<T extends object>(find: () => T | undefined): T {
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
