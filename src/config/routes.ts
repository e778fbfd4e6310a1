import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { codeOf } from '../base/errors';
import type { Route, RouteRules } from '../features/sending/routes';
import { SENDERS, wayOf, type Channel, type SenderName } from '../integrations/senders/kinds';
import { hintOfRegion, regions } from './formats';

/** Cost of a call whose way names none: its price is not known here, and may be several times that of an SMS. */
const CALL_COST = 3;
const MOST_COST = 1_000;

const weight = z.number().positive();
const priced = z.strictObject({ weight: weight.default(1), cost: z.int().min(1).max(MOST_COST).optional() });
const weighted = z.record(z.string(), z.union([weight.transform((one) => ({ weight: one, cost: undefined })), priced]));
const step = z
  .union([z.string().transform((name) => ({ [name]: priced.parse({}) })), weighted])
  .transform((given, context) => {
    return Object.entries(given).map(([name, { weight, cost }]) => {
      const way = wayOf(name);
      if (way) return { ...way, weight, cost: cost ?? costOf(way) };
      context.addIssue(
        `${name} is not a way: name one of ${Object.keys(SENDERS).join(', ')}, and a channel that it has`,
      );
      return z.NEVER;
    });
  });
const route = z.array(step.pipe(z.array(z.custom<Route[number][number]>()).min(1))).min(1);
const file = z.strictObject({ adaptive: z.boolean().default(false), routes: z.record(z.string(), route) });

/** Reads the routes of codes. Countries without one have that of SMS_PROVIDER. */
export function routesOf(path: string | undefined, provider: SenderName, mistakes: string[]): RouteRules {
  const given = path === undefined ? undefined : read(path, mistakes);
  const { channels, forDevelopment } = SENDERS[provider];
  // A developer can try each channel; elsewhere only the first is meant.
  const own = (forDevelopment ? channels : channels.slice(0, 1)).map((channel) => [
    { sender: provider, channel, weight: 1, cost: costOf({ channel }) },
  ]);
  return { adaptive: given?.adaptive ?? false, routes: { '*': own, ...given?.routes } };
}

function read(path: string, mistakes: string[]): RouteRules | undefined {
  let content = '';
  try {
    content = readFileSync(path, 'utf8');
    const given: unknown = JSON.parse(content);
    const { data, error } = file.safeParse(given);
    for (const { path: place, message } of error?.issues ?? [])
      mistakes.push(`SMS_ROUTES: ${[...(place.length > 0 ? [z.core.toDotPath(place)] : []), message].join(': ')}`);
    for (const key of keysIn(given))
      if (key !== '*' && !regions.safeParse(key).success)
        mistakes.push(
          `SMS_ROUTES: ${key}: must be a country such as GB, a calling code such as 44, or *${hintOfRegion(key)}`,
        );
    return data;
  } catch (error) {
    const why =
      error instanceof SyntaxError
        ? `JSON${placeOf(error, content)}`
        : `readable (${codeOf(error) ?? 'unknown error'})`;
    mistakes.push(`SMS_ROUTES: must be the path of a file that is ${why}`);
    return undefined;
  }
}

function costOf({ channel }: { channel: Channel }): number {
  return channel === 'voice' ? CALL_COST : 1;
}

/** Returns the keys of routes, also in a file with other mistakes. */
function keysIn(given: unknown): string[] {
  const { data } = z.object({ routes: z.record(z.string(), z.unknown()) }).safeParse(given);
  return Object.keys(data?.routes ?? {});
}

/** Tells where a file is not JSON. V8 tells the place of most mistakes, but not of a comma before a bracket. */
function placeOf({ message }: SyntaxError, content: string): string {
  const withoutTexts = content.replace(/"(?:[^"\\\n]|\\.)*"/g, (text) => ' '.repeat(text.length));
  const comma = /,\s*[\]}]/.exec(withoutTexts)?.index;
  if (comma === undefined) return /line (\d+) column (\d+)/.exec(message)?.[0].replace(/^/, ': look at ') ?? '';
  const before = content.slice(0, comma).split('\n');
  return `: line ${before.length} column ${(before.at(-1)?.length ?? 0) + 1} has a comma too many`;
}

/** Returns the senders that routes use. */
export function sendersIn({ routes }: RouteRules): Set<SenderName> {
  return new Set(
    Object.values(routes)
      .flat(2)
      .map(({ sender }) => sender),
  );
}
