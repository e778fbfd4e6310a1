import examples from 'libphonenumber-js/mobile/examples';
import { getCountries, getCountryCallingCode, parsePhoneNumberFromString } from 'libphonenumber-js/max';

export interface ExamplePhone {
  country: string;
  region: string;
  /** The digits of a mobile after its calling code. */
  digits: string;
}

/** A mobile of every country that has mobiles. */
export const EXAMPLES: ExamplePhone[] = getCountries().flatMap((country) => {
  const digits = examples[country];
  return digits === undefined ? [] : [{ country, region: getCountryCallingCode(country), digits }];
});

/** Trunk prefixes, dialled before a national number, of regions where it is not 0. */
const OTHER_TRUNK_PREFIXES: Record<string, string> = { 1: '1', 7: '8', 36: '06', 375: '8', 993: '8' };

/** Returns trunk prefixes, including those that a user types once too often. */
export function trunkPrefixes(region: string): string[] {
  const own = OTHER_TRUNK_PREFIXES[region] ?? '0';
  return [...new Set([own, own + own, '0', '00', '000'])];
}

/** Returns the phone stored after one reading, if reading it again gives another one. */
export function unstableReading(region: string, digits: string): string | undefined {
  const read = parsePhoneNumberFromString(digits, { defaultCallingCode: region, extract: false });
  if (!read?.isPossible() || read.countryCallingCode !== region) return undefined;
  return parsePhoneNumberFromString(read.number)?.number === read.number ? undefined : read.number;
}
