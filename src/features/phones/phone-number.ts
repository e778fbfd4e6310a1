import { parsePhoneNumberFromString, type PhoneNumber } from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/max/metadata';

/** A phone as the service keeps it: E.164, with the calling code it was read with. */
export interface Phone {
  number: string;
  region: string;
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
  return parsed?.isPossible() ? { number: parsed.number, region } : undefined;
}

/** A stricter check, before money is spent: a valid mobile number by its country's numbering plan. */
export function isMobile({ number, region }: Phone): boolean {
  // Mobile and fixed numbers share the ranges of calling code 1, and new area codes open there faster than metadata is
  // updated.
  if (region === '1') return /^\+1[2-9]\d{9}$/.test(number);
  const parsed = parsePhoneNumberFromString(number);
  const type = parsed?.isValid() ? parsed.getType() : undefined;
  return !isNonGeographic(region) && (type === 'MOBILE' || type === 'FIXED_LINE_OR_MOBILE');
}

/** The first digits and the last two, for logs and messages. */
export function masked(number: string): string {
  return `${number.slice(0, 4)}…${number.slice(-2)}`;
}

function parse(region: string, digits: string): PhoneNumber | undefined {
  const parsed = parsePhoneNumberFromString(digits, { defaultCallingCode: region, extract: false });
  // Digits that begin with an international prefix would change the region under the caller.
  return parsed?.countryCallingCode === region ? parsed : undefined;
}

function isNonGeographic(region: string): boolean {
  return Object.hasOwn(metadata.nonGeographic ?? {}, region);
}
