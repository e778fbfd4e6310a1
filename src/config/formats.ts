import { isIP } from 'node:net';
import { z } from 'zod';
import { httpUrl, list, listOf } from '../base/formats';
import { hintOf } from '../base/nearest';
import { networkList } from '../base/networks';
import { mistakeInAddress } from '../database/database-url';
import { countryNamed, isCountry, isPhoneCallingCode } from '../features/phones/phone-number';
import { readTestNumbers, type TestNumber } from '../features/sending/test-numbers';

const MISTAKE_IN_HEADERS = 'must be headers separated by commas, such as api-key=…, with values in percent-encoding';

export const databaseUrl = z
  .url({
    protocol: /^postgres(ql)?$/,
    error: 'must look like postgresql://user:password@host:5432/database',
    abort: true,
  })
  .superRefine((url, context) => {
    const mistake = mistakeInAddress(url);
    if (mistake) context.addIssue(mistake);
  });
/** Process that stores images: this one, this one and nothing else, or one at an address. */
export const imagesPlace = z.union([z.enum(['here', 'only']), httpUrl], {
  error: 'must be here, only, or the http or https address of the process that stores images',
});
export const testNumbers = z.string().transform((value, context) => {
  const read = readTestNumbers(value);
  const isRead = (one: TestNumber | string): one is TestNumber => typeof one !== 'string';
  for (const mistake of read) if (!isRead(mistake)) context.addIssue(mistake);
  return read.filter(isRead);
});
/** Headers in the form of OpenTelemetry: name=value, and values in percent-encoding. */
export const headers = list
  .pipe(z.array(z.string().regex(/^[\w.-]+ *=([ -$&-~]|%[2-7][\da-f])+$/i, MISTAKE_IN_HEADERS)))
  .transform((pairs) => Object.fromEntries(pairs.map(headerIn)));
export const hosts = listOf(isHost, 'must be hosts separated by commas, such as images.example.com');
export const origins = listOf(isOrigin, 'must be origins separated by commas, such as https://app.example.com');
const NETWORKS = 'must be networks separated by commas, such as 10.0.0.0/8';
export const networks = listOf(
  (name) => isAddresses(name) && networkMeant(name) === undefined,
  ({ input }) => [NETWORKS, hintOf(networkMeant(String(input)))].join(''),
).transform((given) => networkList(given.join(' ')));
export const audiences = listOf(
  (name) => /^[\w.:/-]{1,100}$/.test(name),
  'must be names or addresses of services separated by commas, such as reports,https://calls.example.com',
);
export const regions = listOf(isRegion, mistakeInRegion);

function isOrigin(value: string): boolean {
  return isWebOrigin(value) || isAppOrigin(value);
}

function isWebOrigin(value: string): boolean {
  return /^https?:[^*]*$/.test(value) && URL.canParse(value) && new URL(value).origin === value;
}

/** Matches the origin of a page in an app, such as capacitor://localhost. */
function isAppOrigin(value: string): boolean {
  return /^(?!(https?|wss?|ftp|file):)[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+$/.test(value);
}

/** Matches a network, also by a name that Express knows. */
function isNetwork(name: string): boolean {
  return ['loopback', 'linklocal', 'uniquelocal'].includes(name) || isAddresses(name);
}

/** Matches an address or a network, but not that of all addresses, in which every client would be. */
function isAddresses(name: string): boolean {
  const [address = '', bits] = name.split(/\/(?=\d{1,3}$)/);
  const most = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  return most > 0 && (bits === undefined || (Number(bits) >= 1 && Number(bits) <= most));
}

/** Returns the network that an address with zeros at its end probably means. With /32 it is one address. */
function networkMeant(name: string): string | undefined {
  if (isIP(name) !== 4 || name === '0.0.0.0') return undefined;
  const [zeros = ''] = /(\.0)*$/.exec(name) ?? [];
  return zeros === '' ? undefined : `${name}/${32 - 8 * (zeros.length / '.0'.length)}`;
}

function isRegion(region: string): boolean {
  return isPhoneCallingCode(region) || isCountry(region);
}

function mistakeInRegion({ input }: { input: unknown }): string {
  return `must be countries or calling codes separated by commas, such as GB,US,86${hintOfRegion(String(input))}`;
}

/** Tells how the region that is probably meant is written: GB for UK, DE for Germany, 44 for +44. */
export function hintOfRegion(given: string): string {
  const code = given.replace(/^\+|^0+/, '');
  const meant = isRegion(code) ? code : countryNamed(given);
  return meant === undefined ? '' : `: ${given} is written ${meant}`;
}

/** Matches a host as in an address: in lower case, with the port only if it is not the default. */
function isHost(value: string): boolean {
  const address = `https://${value}`;
  return URL.canParse(address) && new URL(address).host === value;
}

function headerIn(pair: string): [name: string, value: string] {
  const [name = '', ...value] = pair.split('=');
  return [name.trim(), decodeURIComponent(value.join('=').trim())];
}

/** Parses Express's setting of the same name: the number of proxies in front, or their addresses. */
export function trustProxy(value: string, context: z.RefinementCtx): false | number | string[] {
  if (value === 'none') return false;
  if (/^[1-9]\d?$/.test(value)) return Number(value);
  const names = value.split(',').map((name) => name.trim());
  const [meant] = names.flatMap((name) => networkMeant(name) ?? []);
  if (names.every(isNetwork) && meant === undefined) return names;
  context.addIssue(
    `must be none, a number of proxies, or addresses separated by commas (loopback, 10.0.0.0/8, …)${hintOf(meant)}`,
  );
  return z.NEVER;
}
