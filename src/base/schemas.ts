import { z } from 'zod';

/** String that PostgreSQL stores and returns unchanged: well-formed Unicode without NUL. */
const text = z
  .string({ error: 'must be a string' })
  .refine((value) => !value.includes('\0'), 'must not contain NUL')
  .refine((value) => value.isWellFormed(), 'must be well-formed Unicode');

export function bytes(least: number, most: number) {
  const isFit = (value: string) => {
    const length = Buffer.byteLength(value, 'utf8');
    return length >= least && length <= most;
  };
  // JSON Schema counts characters, each of 1 to 4 bytes.
  const characters = { ...(least > 0 && { minLength: Math.ceil(least / 4) }), maxLength: most };
  const description = `${least > 0 ? `${least} to` : 'Up to'} ${most} bytes of UTF-8.`;
  return text.refine(isFit, `must be ${least} to ${most} bytes of UTF-8`).meta({ ...characters, description });
}

/** Text with a number of characters (code points), which is also what JSON Schema counts. */
export function characters(least: number, most: number) {
  const isFit = (value: string) => {
    const { length } = Array.from(value);
    return length >= least && length <= most;
  };
  return text.refine(isFit, `must be ${least} to ${most} characters`).meta({
    ...(least > 0 && { minLength: least }),
    maxLength: most,
    description: `${least > 0 ? `${least} to` : 'Up to'} ${most} characters.`,
  });
}

const CONTROL = /\p{Cc}/u;
const LINE_BREAKS = /[\r\n]/g;
const OVERRIDE = /[\u202A-\u202E]/;

/** Description of single-line texts in the API document. */
export const PLAIN = 'No control characters, and no bidirectional overrides.';

/** Refuses characters with which a text could change how the text around it is shown. */
export function inLine<Schema extends z.ZodType<string>>(schema: Schema) {
  return plain(schema, (value) => CONTROL.test(value), PLAIN);
}

/** Like `inLine`, but allows line breaks. */
export function inLines<Schema extends z.ZodType<string>>(schema: Schema) {
  const hasControl = (value: string) => CONTROL.test(value.replace(LINE_BREAKS, ''));
  return plain(schema, hasControl, 'No control characters but line breaks, and no bidirectional overrides.');
}

function plain<Schema extends z.ZodType<string>>(
  schema: Schema,
  hasControl: (value: string) => boolean,
  description: string,
) {
  return schema
    .refine((value) => !hasControl(value), 'must not contain control characters')
    .refine((value) => !OVERRIDE.test(value), 'must not contain bidirectional overrides (U+202A to U+202E)')
    .meta({ ...schema.meta(), description: [schema.meta()?.description, description].join(' ') });
}

/** Adds to the description of a schema in the API document. */
export function described<Schema extends z.ZodType>(schema: Schema, more: z.GlobalMeta): Schema {
  return schema.meta({ ...schema.meta(), ...more });
}

/** Time in the format that clients get. */
export const time = z.iso.datetime().meta({ description: 'UTC.', examples: ['2026-04-01T12:00:00.000Z'] });

export const id = z
  .string({ error: 'must be a string' })
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, - or _')
  .meta({ description: 'The id of a user.', examples: ['k7Qw2mZr9TfB'] });
