import type { Knex } from 'knex';

/** A statement as PostgreSQL takes it, with $1, $2 … for values. */
export interface PreparedQuery {
  name: string;
  text: string;
}

/** Connections outside of Knex. */
export interface Runner {
  run<Row>(query: PreparedQuery, values: unknown[]): Promise<Row[]>;
  readonly usage?: Usage | undefined;
}

/** Where a statement can run: Knex's pool, a transaction, or shared connections. */
export type Source = Knex | Runner;

/** Runs the statement with a value for each place holder. */
export type Statement<Row, Names extends string> = (on: Source, values: Record<Names, unknown>) => Promise<Row[]>;

interface Steps<Row, Names extends string> {
  /** A method, so that it may name the types of its values, and take only Knex if it needs a transaction. */
  run(on: Source, values: Record<Names, unknown>): Promise<Row[]>;
}

/** One SQL statement, or steps, each of which is a statement. */
type Form<Row, Names extends string> = string | Steps<Row, Names>['run'];

/** Form for one server, which does not need the statement. */
export const NOTHING = () => Promise.resolve([]);

interface Options<Row, Names extends string> {
  /**
   * Whether PostgreSQL keeps the plan of the statement, which saves planning. False if its best plan depends on its
   * values.
   */
  prepared?: boolean;
  /**
   * Another form, for users and groups on several servers, which refuse the first or are all asked by it. Either form may
   * leave out place holders of the other.
   */
  distributed?: Form<Row, Names>;
}

/** How connections are used. Knex keeps it as its parameters, and passes it on to its transactions. */
export interface Usage {
  /** False for a pooler that does not support prepared statements. */
  prepare: boolean;
  /** Undefined until the database has told. */
  isDistributed?: boolean;
}

/** Place holder, but not a cast, which has two colons. */
const PLACE_HOLDER = /(?<![:\w]):([a-zA-Z]\w*)/g;

/** Every statement of one server by name, as PostgreSQL takes it; a test checks their plans. */
// eslint-disable-next-line no-restricted-syntax -- filled while modules load
export const statements = new Map<string, string>();
/** Every statement of several servers by name; a test counts the parts that each asks. */
// eslint-disable-next-line no-restricted-syntax -- filled while modules load
export const distributedForms = new Map<string, string>();

/**
 * Makes a statement with a unique name and with place holders such as :userId, whose names are `Names`. It returns its
 * rows: a write has a RETURNING if its caller needs to know whether it changed something.
 */
export function statement<Row = unknown, Names extends string = never>(
  name: string,
  form: Form<Row, Names>,
  { prepared = true, distributed = form }: Options<Row, Names> = {},
): Statement<Row, Names> {
  if (statements.has(name) || distributedForms.has(name)) throw new Error(`two statements are named ${name}`);
  const usual = runs(name, form, prepared, statements);
  const other = runs(name, distributed, prepared, distributedForms);
  return (on, values) => formFor(on, usual, other)(on, values);
}

/** Returns a function that runs the form. Enters its text into `texts`. */
function runs<Row, Names extends string>(
  name: string,
  form: Form<Row, Names>,
  prepared: boolean,
  texts: Map<string, string>,
): Statement<Row, Names> {
  if (typeof form !== 'string') return form;
  const holders = [...form.matchAll(PLACE_HOLDER)].map(([, holder = '']) => holder);
  const distinct = [...new Set(holders)];
  const text = form.replace(PLACE_HOLDER, (_, holder: string) => `$${distinct.indexOf(holder) + 1}`);
  const query = { name, text };
  const knexSql = form.replace(PLACE_HOLDER, '?');
  texts.set(name, text);

  return async (on, values) => {
    const given: Record<string, unknown> = values;
    const valueOf = (holder: string) => {
      if (given[holder] === undefined) throw new Error(`${name} lacks a value for :${holder}`);
      return given[holder];
    };
    if (!isKnex(on)) return on.run<Row>(query, distinct.map(valueOf));
    const raw = on.raw<{ rows: Row[] }>(knexSql, holders.map(valueOf) as Knex.RawBinding[]);
    const { prepare } = usageOf(on);
    // PostgreSQL prepares a statement with a name. The label is only for observers.
    const { rows } = await raw.options(prepare && prepared ? { name } : { label: name });
    return rows;
  };
}

/** Returns `distributed` where users and groups are on several servers, and else `usual`. */
export function formFor<Form>(on: Source, usual: Form, distributed: Form): Form {
  const usage = isKnex(on) ? usageOf(on) : on.usage;
  return usage?.isDistributed ? distributed : usual;
}

function usageOf(db: Knex): Usage {
  return db.userParams as Usage;
}

function isKnex(source: Source): source is Knex {
  return 'raw' in source;
}

/** Lists columns for SELECT and RETURNING that become the fields of an object. */
export function columnList(columns: Record<string, string>): string {
  return Object.entries(columns)
    .map(([field, column]) => `${column} AS "${field}"`)
    .join(', ');
}

/**
 * Returns one SELECT for several, since each statement costs both sides a message. Its row has the rows of each as a
 * list, in JSON: numbers, texts, booleans and null arrive as by themselves.
 */
export function together(selects: Record<string, string>): string {
  const lists = Object.entries(selects).map(
    ([name, sql]) => `(SELECT coalesce(json_agg(one), '[]') FROM (${sql}) AS one) AS "${name}"`,
  );
  return `SELECT ${lists.join(', ')}`;
}

/** Returns SQL that formats a time for clients. */
export function isoTime(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
