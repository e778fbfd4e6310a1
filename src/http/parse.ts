import { z } from 'zod';
import { BadRequest } from '../base/errors';

/** Message for schemas without their own. Messages of zod never reach a client. */
const FALLBACK = { error: () => 'is not valid' };

/** Parses input of a client. Only failures here are the client's fault; a ZodError from elsewhere stays a 500. */
export function parse<T>(schema: z.ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(input, FALLBACK);
  if (parsed.success) return parsed.data;
  const details = [...firstOfEach(parsed.error.issues)].map(([path, message]) => ({
    path,
    message: whyMissing(path, input) ?? message,
  }));
  const message = details.map((problem) => `${problem.path}: ${problem.message}`).join('; ');
  throw new BadRequest('invalid_input', message, { details });
}

/** Returns one message per field, since further faults may follow from the first. */
function firstOfEach(issues: z.core.$ZodIssue[]): Map<string, string> {
  const messages = new Map<string, string>();
  for (const issue of issues)
    for (const [name, message] of problemsOf(issue)) if (!messages.has(name)) messages.set(name, message);
  return messages;
}

/** Returns the fields of an issue. Only bodies that refuse unknown fields have issues with several. */
function problemsOf(issue: z.core.$ZodIssue): [name: string, message: string][] {
  if (issue.code !== 'unrecognized_keys') return [[issue.path.join('.'), issue.message]];
  return issue.keys.map((key) => [[...issue.path, key].join('.'), 'is not a field of this body']);
}

/** Returns why a field is missing, and names a field whose name was spelt differently. */
function whyMissing(name: string, input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null || name.includes('.') || Object.hasOwn(input, name)) return undefined;
  const plain = (word: string) => word.toLowerCase().replace(/[^a-z]/g, '');
  const sent = Object.keys(input).find((word) => plain(word) === plain(name));
  return sent === undefined ? 'is missing' : `is missing: ${sent} is not ${name}`;
}
