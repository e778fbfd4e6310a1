import { z } from 'zod';
import { BadRequest } from '../base/errors';
import { characters, described, inLine } from '../base/schemas';
import { parse } from '../http/parse';
import { flagsOf, wordsOf, type Command, type Input } from './command';

interface Field {
  name: string;
  schema: z.ZodType;
}

const MOST_CHARACTERS = 200;

const word = inLine(characters(1, MOST_CHARACTERS));
const flag = z.boolean({ error: 'must be true or false' });

/** Returns the path of a command: its words, so that "sessions end" is /sessions/end. */
export function pathOf({ name }: Command): `/${string}` {
  return `/${name.replaceAll(' ', '/')}`;
}

/** Returns the body of a command: its further words and its options, by their names. Other fields are refused. */
export function bodyOf(command: Command) {
  const fields = [...wordsIn(command), ...optionsOf(command)].map(({ name, schema }) => [name, schema] as const);
  return z.strictObject(Object.fromEntries(fields));
}

/** Returns the fields that a body must have. */
export function neededOf(command: Command): string[] {
  return wordsOf(command).flatMap(({ name, isNeeded }) => (isNeeded ? [inCamelCase(name)] : []));
}

/** Returns a function that reads the body of a command as if it had been typed. */
export function bodyReader(command: Command): (body: unknown) => Input {
  const names = wordsIn(command).map(({ name }) => name);
  const schema = bodyOf(command).superRefine(withoutGaps(names));
  return (body) => {
    const fields = parse(schema, body) as Input['options'];
    const words = names.map((name) => fields[name]).filter((value) => typeof value === 'string');
    const options = Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
    if (command.isFinal && options.yes !== true && options.dryRun !== true)
      throw new BadRequest('not_sure', 'it cannot be undone: send "yes": true, or look first with "dryRun": true');
    return { words, options };
  };
}

function wordsIn(command: Command): Field[] {
  return wordsOf(command).map(({ name, isNeeded }) => {
    const named = described(word, { description: `The word ${name} of the command.` });
    return { name: inCamelCase(name), schema: isNeeded ? named : named.optional() };
  });
}

function optionsOf(command: Command): Field[] {
  return Object.entries(flagsOf(command)).map(([given, what]) => {
    const [name = '', value] = given.split(' ');
    const schema: z.ZodType = value === undefined ? flag : word;
    return { name: inCamelCase(name), schema: described(schema, { description: sentence(what) }).optional() };
  });
}

/** Refuses a word without the one before it: a command tells its words apart by their order. */
function withoutGaps(names: string[]) {
  return (fields: Record<string, unknown>, context: z.RefinementCtx) => {
    const last = names.findLastIndex((name) => fields[name] !== undefined);
    for (const name of names.slice(0, Math.max(0, last)))
      if (fields[name] === undefined) context.addIssue({ code: 'custom', path: [name], message: 'is missing' });
  };
}

/** As the command line names its options: --dry-run is dryRun. */
function inCamelCase(name: string): string {
  return name.replace(/^--/, '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
