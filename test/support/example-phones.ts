import examples from 'libphonenumber-js/mobile/examples';
import { getCountries, getCountryCallingCode, parsePhoneNumberFromString } from 'libphonenumber-js/max';

export interface ExamplePhone {
  country: string;
  region: string;
  /** Of a mobile, as it follows the calling code. */
  digits: string;
}

/** A mobile of every country that has any. */
export const EXAMPLES: ExamplePhone[] = getCountries().flatMap((country) => {
  const digits = examples[country];
  return digits === undefined ? [] : [{ country, region: getCountryCallingCode(country), digits }];
});

/** What people dial before a number at home: 0, but in these regions. */
const OTHER_TRUNK_PREFIXES: Record<string, string> = { 1: '1', 7: '8', 36: '06', 375: '8', 993: '8' };

/** Trunk prefixes as somebody may type them who takes one too many. */
export function trunkPrefixes(region: string): string[] {
  const own = OTHER_TRUNK_PREFIXES[region] ?? '0';
  return [...new Set([own, own + own, '0', '00', '000'])];
}

/** The phone as it was kept when it was read once, if the next reading makes another one of it. */
export function unstableReading(region: string, digits: string): string | undefined {
  const read = parsePhoneNumberFromString(digits, { defaultCallingCode: region, extract: false });
  if (!read?.isPossible() || read.countryCallingCode !== region) return undefined;
  return parsePhoneNumberFromString(read.number)?.number === read.number ? undefined : read.number;
}
