import { z } from 'zod';
import { BadRequest } from '../base/errors';

/** Of what a schema has no words for. Those of zod itself reach no client. */
const OTHERWISE = { error: () => 'is not as it must be' };

/** Only what fails here is the client's fault; a ZodError from anywhere else stays a 500. */
export function parse<T>(schema: z.ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(input, OTHERWISE);
  if (parsed.success) return parsed.data;
  const details = [...firstOfEach(parsed.error.issues)].map(([path, message]) => ({
    path,
    message: whyMissing(path, input) ?? message,
  }));
  const message = details.map((problem) => `${problem.path}: ${problem.message}`).join('; ');
  throw new BadRequest('invalid_input', message, { details });
}

/** One field, one message: what else is wrong with it may follow from that. */
function firstOfEach(issues: z.core.$ZodIssue[]): Map<string, string> {
  const messages = new Map<string, string>();
  for (const { path, message } of issues) {
    const name = path.join('.');
    if (!messages.has(name)) messages.set(name, message);
  }
  return messages;
}

/** Of a field that was not sent: whoever has written its name otherwise is told so. */
function whyMissing(name: string, input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null || name.includes('.') || Object.hasOwn(input, name)) return undefined;
  const plain = (word: string) => word.toLowerCase().replace(/[^a-z]/g, '');
  const sent = Object.keys(input).find((word) => plain(word) === plain(name));
  return sent === undefined ? 'is missing' : `is missing: ${sent} is not ${name}`;
}
