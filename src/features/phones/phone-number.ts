import { parsePhoneNumberFromString, type PhoneNumber } from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/max/metadata';

/** A phone as stored: in E.164, with the calling code that it was read with. */
export interface Phone {
  number: string;
  region: string;
}

/** A phone of an account, or one that was proved to become it. */
export interface OwnPhone extends Phone {
  /** Tag of the language of its messages. Empty: the default. */
  language: string;
  /** Whether it was proved only by codes that were not sent. */
  isTest: boolean;
}

/** Columns of `OwnPhone` in each table of phones. */
export const OWN_PHONE = { number: 'phone', region: 'region', language: 'language', isTest: 'is_test' };

/** Whether a text is an ISO code of two letters. */
export function isCountry(country: string): boolean {
  return Object.hasOwn(metadata.countries, country);
}

/** Names of countries in English. */
const NAMES = new Intl.DisplayNames('en', { type: 'region' });

/** Returns the ISO code of a country that is named in another way: uk, gb, Germany. */
export function countryNamed(name: string): string | undefined {
  const code = name.toUpperCase();
  if (code === 'UK') return 'GB';
  if (isCountry(code)) return code;
  return Object.keys(metadata.countries).find((one) => NAMES.of(one)?.toUpperCase() === code);
}

/**
 * Returns the country of a phone, or its calling code with a plus if the country is unknown. Calling codes 1, 7 and 44
 * have several countries, at very different prices.
 */
export function countryOf({ number, region }: Phone): string {
  return parsePhoneNumberFromString(number)?.country ?? `+${region}`;
}

/** Whether a phone belongs to one of these countries or calling codes. An empty list means all. */
export function isWithin(phone: Phone, regions: string[]): boolean {
  return regions.length === 0 || regions.includes(phone.region) || regions.includes(countryOf(phone));
}

/** Whether an international dialling code exists. Some, like 870, do not belong to a country. */
export function isPhoneCallingCode(region: string): boolean {
  return Object.hasOwn(metadata.country_calling_codes, region) || isNonGeographic(region);
}

/**
 * Reads digits as dialled within the region, so that 07911… and 7911… in 44 are one phone. Checks only the length, so
 * that every registered phone can still log in after an update of the numbering plans.
 */
export function readPhone(region: string, digits: string): Phone | undefined {
  const parsed = parse(region, digits);
  return parsed?.isPossible() && isReadAgainAsItself(parsed) ? { number: parsed.number, region } : undefined;
}

/** Reads a number in international form, such as +44 7911 123456. */
export function readInternational(text: string): Phone | undefined {
  const parsed = text.startsWith('+') ? parsePhoneNumberFromString(text.replace(/[\s()-]/g, '')) : undefined;
  return parsed && readPhone(parsed.countryCallingCode, parsed.nationalNumber);
}

/**
 * Refuses a second trunk zero: the first reading keeps it, and a reader of the result drops it. One line would then be
 * several phones, one per spelling. The zero is not dropped here, since 00 may begin a number of another region.
 */
function isReadAgainAsItself({ number }: PhoneNumber): boolean {
  return parsePhoneNumberFromString(number)?.number === number;
}

/** Whether a number is a valid mobile number by its country's plan: a stricter check, before money is spent. */
export function isMobile({ number, region }: Phone): boolean {
  const parsed = parsePhoneNumberFromString(number);
  const type = parsed?.isValid() ? parsed.getType() : undefined;
  if (type === 'MOBILE' || type === 'FIXED_LINE_OR_MOBILE') return !isNonGeographic(region) && !isService(number);
  // Accepts area codes that the metadata lacks: in the United States and Canada they open faster than it is updated.
  return region === '1' && type === undefined && !parsed?.country && isOrdinary(number);
}

/** Whether a number of calling code 1 has 911 or the like as area or exchange, or 976, premium-rate in many areas. */
function isService(number: string): boolean {
  return /^\+1(?:[2-9]11|\d{3}(?:[2-9]11|976))/.test(number);
}

/** Whether a number of calling code 1 is outside the ranges for toll-free, premium, personal and service numbers. */
function isOrdinary(number: string): boolean {
  const reserved = /^\+1(?:8(\d)\1|88\d|[79]00|456|5\d\d|6(\d)\2|710)/;
  return /^\+1[2-9]\d{2}[2-9]\d{6}$/.test(number) && !reserved.test(number) && !isService(number);
}

/** Returns the first digits and the last two, for logs and messages. */
export function masked(number: string): string {
  return `${number.slice(0, 4)}…${number.slice(-2)}`;
}

/** Parts of a text that may be phones: nine digits or more, also with spaces, brackets, dots or hyphens between them. */
const MAYBE_PHONES = /\d(?:[\s().-]*\d){8,}/g;

/** Returns a text without what may be a phone in it. */
export function withoutPhones(text: string): string {
  return text.replace(MAYBE_PHONES, (digits) => `…${digits.slice(-2)}`);
}

function parse(region: string, digits: string): PhoneNumber | undefined {
  // Without `extract`, and with a calling code instead of a country, it does not look for an international prefix.
  return parsePhoneNumberFromString(digits, { defaultCallingCode: region, extract: false });
}

function isNonGeographic(region: string): boolean {
  return Object.hasOwn(metadata.nonGeographic ?? {}, region);
}
