import { Client } from 'pg';

/** A statement that the service has sent to PostgreSQL. */
export interface SentStatement {
  text: string;
  /** The bound values, as JSON. */
  values: string;
  isAnswered: boolean;
}

export interface SentStatements {
  readonly sent: SentStatement[];
  /** Most statements that waited for their answers at the same time. */
  readonly mostAtOnce: number;
}

interface Options {
  /** Part of the bound values. */
  value?: string;
  /** Holds a statement back until this is resolved. */
  beforeSending?: () => Promise<unknown>;
  /** Holds an answer back until this is resolved. A connection that requests share goes on. */
  beforeAnswer?: (statement: SentStatement) => Promise<void>;
}

type Callback = (...results: unknown[]) => void;
type Query = (this: Client, ...args: unknown[]) => unknown;

/** The forms in which pg takes a statement. */
interface Config {
  text: string;
  values?: unknown[];
  callback?: Callback;
  submit?: unknown;
}

/**
 * Records the statements whose text has this part, until the test restores its mocks. Records those of all instances
 * in this process, but not those of the test itself, which connects as another role.
 */
export function watchStatements(
  part: string,
  { value = '', beforeSending, beforeAnswer = () => Promise.resolve() }: Options = {},
): SentStatements {
  const watched = { sent: [] as SentStatement[], mostAtOnce: 0 };
  const role = new URL(process.env.TEST_POSTGRES_SERVICE_URL ?? '').username;
  const query = presentQuery();
  const watch: Query = function (...args) {
    const statement = statementOf(args);
    const isWatched = statement.text.includes(part) && statement.values.includes(value);
    if (this.user !== role || !isWatched) return query.apply(this, args);
    watched.sent.push(statement);
    const open = watched.sent.filter(({ isAnswered }) => !isAnswered);
    watched.mostAtOnce = Math.max(watched.mostAtOnce, open.length);
    const answered = () => void (statement.isAnswered = true);
    const send = () => answering(query.bind(this), args, answered, () => beforeAnswer(statement));
    return beforeSending ? beforeSending().then(send) : send();
  };
  jest.spyOn(Client.prototype, 'query').mockImplementation(watch);
  return watched;
}

/** Returns pg's own function, or that of an earlier call of `watchStatements`. */
function presentQuery(): Query {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with a client as `this`
  const query: unknown = Client.prototype.query;
  return ((jest.isMockFunction(query) && query.getMockImplementation()) || query) as Query;
}

function statementOf([first, second]: unknown[]): SentStatement {
  const { text, values } = typeof first === 'string' ? { text: first, values: undefined } : (first as Config);
  const bound = values ?? (Array.isArray(second) ? second : []);
  return { text, values: JSON.stringify(bound), isAnswered: false };
}

/** Sends a statement, and calls `answered` before the service gets the answer. */
function answering(
  send: (...args: unknown[]) => unknown,
  args: unknown[],
  answered: () => void,
  beforeAnswer: () => Promise<void>,
): unknown {
  const later = (callback: Callback): Callback => {
    return (...results) => {
      answered();
      void beforeAnswer().then(() => callback(...results));
    };
  };
  const [first] = args;
  const last = args.at(-1);
  if (typeof last === 'function') return send(...args.slice(0, -1), later(last as Callback));
  const submitted = first as Config;
  if (typeof first !== 'string' && submitted.submit && submitted.callback) {
    const { callback } = submitted;
    submitted.callback = (error, result) => {
      answered();
      if (error) return callback(error);
      const { rows } = result as { rows: unknown };
      // A promise that is resolved with these rows waits for them.
      callback(null, { rows: beforeAnswer().then(() => rows) });
    };
    return send(...args);
  }
  return (send(...args) as Promise<unknown>).finally(() => {
    answered();
    return beforeAnswer();
  });
}
