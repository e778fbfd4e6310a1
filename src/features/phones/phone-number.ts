import { parsePhoneNumberFromString, type PhoneNumber } from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/max/metadata';

/** A phone as the service keeps it: E.164, with the calling code it was read with. */
export interface Phone {
  number: string;
  region: string;
}

/** ISO codes of two letters. */
export function isCountry(country: string): boolean {
  return Object.hasOwn(metadata.countries, country);
}

/**
 * The country of a phone, or its calling code with a plus, where no country can be told. Calling codes 1, 7 and 44 hold
 * several countries, at very different prices.
 */
export function countryOf({ number, region }: Phone): string {
  return parsePhoneNumberFromString(number)?.country ?? `+${region}`;
}

/** Whether a phone is of one of these countries or calling codes. None of them means all. */
export function isWithin(phone: Phone, regions: string[]): boolean {
  return regions.length === 0 || regions.includes(phone.region) || regions.includes(countryOf(phone));
}

/** Whether an international dialling code exists, of a country or, like 870, of none. */
export function isPhoneCallingCode(region: string): boolean {
  return Object.hasOwn(metadata.country_calling_codes, region) || isNonGeographic(region);
}

/**
 * Reads the digits as they are dialled within the region, so that 07911… and 7911… in 44 are one phone. Checks only the
 * length, so that every registered phone can still log in after an update of the numbering plans.
 */
export function readPhone(region: string, digits: string): Phone | undefined {
  const parsed = parse(region, digits);
  return parsed?.isPossible() && isReadAgainAsItself(parsed) ? { number: parsed.number, region } : undefined;
}

/**
 * Not with a second trunk zero: the first reading keeps it, and whoever reads the result drops it. A line would be as
 * many phones as it has such spellings. Nor is it dropped here, for 00 may begin a number of another region.
 */
function isReadAgainAsItself({ number }: PhoneNumber): boolean {
  return parsePhoneNumberFromString(number)?.number === number;
}

/** A stricter check, before money is spent: a valid mobile number by its country's numbering plan. */
export function isMobile({ number, region }: Phone): boolean {
  const parsed = parsePhoneNumberFromString(number);
  const type = parsed?.isValid() ? parsed.getType() : undefined;
  if (type === 'MOBILE' || type === 'FIXED_LINE_OR_MOBILE') return !isNonGeographic(region) && !isService(number);
  // Of an area code that metadata does not know yet: in the United States and Canada they open faster than it is
  // updated.
  return region === '1' && type === undefined && !parsed?.country && isOrdinary(number);
}

/** In calling code 1: 911 and the like as an area or exchange, and 976, which is paid for in many areas. */
function isService(number: string): boolean {
  return /^\+1(?:[2-9]11|\d{3}(?:[2-9]11|976))/.test(number);
}

/** A number of calling code 1 that is not toll-free, paid for, personal, or of a service, as the plan reserves these. */
function isOrdinary(number: string): boolean {
  const reserved = /^\+1(?:8(\d)\1|88\d|[79]00|456|5\d\d|6(\d)\2|710)/;
  return /^\+1[2-9]\d{2}[2-9]\d{6}$/.test(number) && !reserved.test(number) && !isService(number);
}

/** The first digits and the last two, for logs and messages. */
export function masked(number: string): string {
  return `${number.slice(0, 4)}…${number.slice(-2)}`;
}

function parse(region: string, digits: string): PhoneNumber | undefined {
  // Without `extract`, and with a calling code in place of a country, no international prefix is looked for.
  return parsePhoneNumberFromString(digits, { defaultCallingCode: region, extract: false });
}

function isNonGeographic(region: string): boolean {
  return Object.hasOwn(metadata.nonGeographic ?? {}, region);
}
