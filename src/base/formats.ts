import { z } from 'zod';
import { hintOf, nearest } from './nearest';

export const whole = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be a whole number from ${least} to ${most}`);
export const seconds = whole(1, 86_400 * 365);
export const limit = whole(0, 1_000_000_000);
export const share = z
  .string()
  .regex(/^(0(\.\d+)?|1(\.0+)?)$/, 'must be a number from 0 to 1, such as 0.1')
  .transform(Number);
export const text = z.string().min(1);
export const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  // Rules of production look for http: at its beginning, and HTTP: is the same.
  .transform((url) => url.replace(/^https?:/i, (scheme) => scheme.toLowerCase()).replace(/\/+$/, ''));
export const list = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean),
);
export const listOf = (isFit: (item: string) => boolean, error: string | (({ input }: { input: unknown }) => string)) =>
  list.pipe(z.array(z.string().refine(isFit, { error })));
export const oneOf = <const T extends [string, ...string[]]>(...values: T) =>
  z.enum(values, {
    error: ({ input }) => {
      const word = String(input).toLowerCase();
      return `must be one of ${values.join(', ')}${hintOf(values.find((one) => one === word) ?? nearest(word, values))}`;
    },
  });
export const onOff = oneOf('on', 'off');
