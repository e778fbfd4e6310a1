import { z } from 'zod';

/** A variable of the environment. Checks, .env.example, tables of the docs and the schema for editors are made of it. */
export interface Row {
  /** Form of the value, which is a text. */
  kind: z.ZodType;
  /** Words for operators, on one line. Without them, those of the row above hold for both. */
  says?: string;
  /** Value, as in the environment, if none is set. An empty one is an empty list. */
  default?: string | number;
  /** Default of production, if there it is another one. */
  production?: string | number;
  /** Whether NAME_FILE may give it too: the path of a file that contains it. */
  secret?: true;
  /** Remedy if it is not set in production. */
  required?: string;
  /** Reason why production takes only addresses with https. */
  https?: string;
  /** Values that production refuses, and the remedy. */
  refuses?: [isRefused: (value: never) => boolean, remedy: string];
}

export type Rows = Readonly<Record<string, Row>>;

/** Values of variables. One without a default may be undefined. */
export type Values<R extends Rows> = {
  [Name in keyof R]: z.output<R[Name]['kind']> | (R[Name] extends { default: string | number } ? never : undefined);
};

/** Rows that stand together in .env.example. */
export interface Section {
  title: string;
  says?: string;
  rows: Rows;
  /** First words of names that no other known program uses: a variable with them is meant for this service. */
  ours?: readonly string[];
  /** Returns what production has against several values together. */
  unfit?: (values: never) => string[];
}

/** Returns the section of a vendor. No other known program uses the first words of its variables. */
export function vendorSection(title: string, { rows }: Pick<Vendor<object, never>, 'rows'>): Section {
  return { title, rows, ours: Object.keys(rows).map((name) => name.replace(/_.*/, '')) };
}

/** Keeps the types of rows. */
export function rows<const R extends Rows>(given: R): R {
  return given;
}

/** Reads a variable that a chosen vendor needs. `says` words why. */
type Need<R extends Rows> = <Name extends keyof R & string>(
  name: Name,
  says?: (why: string) => string,
) => NonNullable<Values<R>[Name]>;

/** Variables of a vendor, and how its settings are made of them. */
export interface Vendor<Settings, Shared> {
  rows: Rows;
  /** `why` tells what makes the service use this vendor. */
  read: (env: object, why: string, mistakes: string[], shared: Shared) => Settings;
}

/** Returns a vendor, whose `read` finds each variable that it needs and is not set. */
export function vendor<R extends Rows, Settings, Shared = object>(
  rows: R,
  read: (env: Values<R>, need: Need<R>, shared: Shared, mistakes: string[]) => Settings,
): Vendor<Settings, Shared> {
  return {
    rows,
    read: (given, why, mistakes, shared) => {
      const env = given as Values<R>;
      const need: Need<R> = (name, says = (why) => why) => {
        const value = env[name];
        if (value === undefined) mistakes.push(`${name}: set it, ${says(why)}`);
        // After a mistake the service does not start, so the value is not used.
        return value as NonNullable<Values<R>[typeof name]>;
      };
      return read(env, need, shared, mistakes);
    },
  };
}

/** Returns the schema of an environment. Production has defaults of its own. */
export function schemaOf<R extends Rows>(rows: R, isProduction: boolean) {
  const shape = Object.entries(rows).map(([name, { kind, default: elsewhere, production = elsewhere }]) => {
    const given = isProduction ? production : elsewhere;
    return [name, given === undefined ? kind.optional() : kind.prefault(String(given))];
  });
  return z.object(Object.fromEntries(shape) as z.ZodRawShape) as z.ZodType as z.ZodType<Values<R>>;
}

/** Returns what production has against values, each with a remedy. */
export function unfitForProduction(rows: Rows, values: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(rows).flatMap(([name, { required, https, refuses }]) => {
    const value = values[name];
    if (value === undefined) return required === undefined ? [] : [`${name}: ${required}`];
    const isHttp = [value].flat().some((one) => typeof one === 'string' && one.startsWith('http:'));
    return [
      ...(https !== undefined && isHttp ? [`${name}: must start with https://, ${https}`] : []),
      ...(refuses?.[0](value as never) ? [`${name}: ${refuses[1]}`] : []),
    ];
  });
}
