import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import {
  countryOf,
  isCountry,
  isMobile,
  isPhoneCallingCode,
  masked,
  readPhone,
} from '../../src/features/phones/phone-number';
import { EXAMPLES, trunkPrefixes } from '../support/example-phones';

describe('isPhoneCallingCode', () => {
  it.each(['1', '7', '44', '86', '852', '870', '800', '883', '979'])('knows %s', (region) => {
    expect(isPhoneCallingCode(region)).toBe(true);
  });

  it.each(['', '0', '2', '999', '044', '+44', '440', 'GB', 'constructor', '__proto__', 'toString'])(
    'does not know %j',
    (region) => {
      expect(isPhoneCallingCode(region)).toBe(false);
    },
  );
});

describe('readPhone', () => {
  it.each([
    ['44', '7911123456', '+447911123456'],
    ['44', '07911123456', '+447911123456'],
    ['44', '447911123456', '+447911123456'],
    ['1', '2025550123', '+12025550123'],
    ['1', '12025550123', '+12025550123'],
    ['86', '13912345678', '+8613912345678'],
    ['7', '9161234567', '+79161234567'],
    ['7', '89161234567', '+79161234567'],
    ['49', '15123456789', '+4915123456789'],
    ['49', '015123456789', '+4915123456789'],
    ['91', '09876543210', '+919876543210'],
    ['36', '06201234567', '+36201234567'],
    ['39', '3123456789', '+393123456789'],
    ['39', '0612345678', '+390612345678'],
    ['870', '773111632', '+870773111632'],
    ['800', '12345678', '+80012345678'],
  ])('reads %s and %s as %s', (region, digits, number) => {
    expect(readPhone(region, digits)).toEqual({ number, region });
  });

  it.each([
    ['44', ''],
    ['44', '1'],
    ['44', '791112345678'],
    ['44', '0079'],
    ['44', '0018005550123'],
    ['1', '555012'],
    ['1', '0114479111234'],
    ['49', '0015123456789'],
    ['91', '009876543210'],
    ['375', '88294911911'],
  ])('reads nothing from %j and %j', (region, digits) => {
    expect(readPhone(region, digits)).toBeUndefined();
  });

  // guard phone-number-1: a line is one phone, with any number of trunk zeros
  // src/features/phones/phone-number.ts
  // - parsed?.isPossible() && isReadAgainAsItself(parsed) ?
  // + parsed?.isPossible() ?
  it('has one spelling of each mobile of the world, with any prefix dialled before it', () => {
    expect(EXAMPLES.length).toBeGreaterThan(200);
    for (const { region, digits } of EXAMPLES) {
      const phone = readPhone(region, digits);
      expect(phone).toEqual({ number: `+${region}${digits}`, region });
      for (const prefix of trunkPrefixes(region)) {
        const other = readPhone(region, `${prefix}${digits}`);
        // With a prefix it may be another number. Such a number is not a mobile, and is sent no code.
        if (other && isMobile(other)) expect(other).toEqual(phone);
      }
    }
  });

  it('returns no number that another reader turns into another phone', () => {
    for (const { region, digits } of EXAMPLES)
      for (const prefix of [
        ...trunkPrefixes(region),
        '1',
        '8',
        '06',
        region,
        `${region}0`,
        `0${region}`,
        `00${region}`,
      ]) {
        const phone = readPhone(region, `${prefix}${digits}`);
        if (phone) expect(parsePhoneNumberFromString(phone.number)?.number).toBe(phone.number);
      }
  });

  // guard phone-number-2: digits are read within their region, with any leading digits
  // src/features/phones/phone-number.ts
  // - parsePhoneNumberFromString(digits, { defaultCallingCode: region, extract: false })
  // + parsePhoneNumberFromString(digits.replace(/^00/, '+'), { defaultCallingCode: region, extract: false })
  it('never lets the digits change the region', () => {
    for (const region of ['44', '1', '86', '7', '39', '49', '61', '870'])
      for (const prefix of ['', '0', '00', '011', '1', '44', '0044', '861', '810'])
        for (const rest of ['7911123456', '2025550123', '13912345678']) {
          const phone = readPhone(region, `${prefix}${rest}`);
          if (phone) expect(phone.number.startsWith(`+${region}`)).toBe(true);
        }
  });
});

describe('countryOf', () => {
  it.each([
    ['44', '7400123456', 'GB'],
    ['44', '7797712345', 'JE'],
    ['7', '9161234567', 'RU'],
    ['7', '7011234567', 'KZ'],
    ['1', '2025550123', 'US'],
    ['1', '4165550123', 'CA'],
    ['1', '8765550123', 'JM'],
    ['86', '13912345678', 'CN'],
    ['1', '2995550123', '+1'],
    ['870', '773111632', '+870'],
  ])('is, for %s %s, %s', (region, digits, country) => {
    const phone = readPhone(region, digits);
    expect(phone && countryOf(phone)).toBe(country);
  });

  it('uses the codes that ALLOWED_REGIONS accepts', () => {
    for (const country of ['GB', 'US', 'KZ', 'JM']) expect(isCountry(country)).toBe(true);
    for (const none of ['gb', 'ZZ', '001', '44', '', 'constructor']) expect(isCountry(none)).toBe(false);
  });
});

describe('isMobile', () => {
  const judged = (region: string, digits: string) => {
    const phone = readPhone(region, digits);
    return phone && isMobile(phone);
  };

  it.each([
    ['44', '7911123456'],
    ['86', '13912345678'],
    ['49', '15123456789'],
    ['1', '2025550123'],
    ['1', '2995550123'],
    ['1', '8765550123'],
    ['1', '8095550123'],
  ])('accepts %s %s', (region, digits) => {
    expect(judged(region, digits)).toBe(true);
  });

  it.each([
    ['44', '2079460000'],
    ['44', '7000000000'],
    ['49', '8001234567'],
    ['870', '773111632'],
    ['881', '612345678'],
    ['800', '12345678'],
    ['1', '1025550123'],
    ['1', '9005550123'],
    ['1', '9115550123'],
    ['1', '4115550123'],
    ['1', '8005550123'],
    ['1', '8885550123'],
    ['1', '8225550123'],
    ['1', '8815550123'],
    ['1', '5005550123'],
    ['1', '5215550123'],
    ['1', '7005550123'],
    ['1', '7105550123'],
    ['1', '4565550123'],
    ['1', '6005550123'],
    ['1', '6225550123'],
    ['1', '2029110123'],
    ['1', '2029760123'],
    ['1', '8767230123'],
  ])('refuses %s %s, which is a possible number', (region, digits) => {
    expect(judged(region, digits)).toBe(false);
  });
});

describe('masked', () => {
  it('shows the beginning and the end', () => {
    expect(masked('+447911123456')).toBe('+447…56');
  });
});
