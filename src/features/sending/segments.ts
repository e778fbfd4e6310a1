/** The alphabet of GSM 03.38, and its extension, whose characters take two places each. */
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const EXTENSION = '^{}\\[~]|€\f';

/** Places of one message, and of each part of a longer one, whose parts also carry a number. */
const PLACES = {
  'GSM-7': { alone: 160, part: 153 },
  'UCS-2': { alone: 70, part: 67 },
};

export interface Segments {
  alphabet: keyof typeof PLACES;
  /** Places that the text takes. */
  length: number;
  /** Places of one message. */
  most: number;
  /** Messages that are paid for. */
  count: number;
}

/** Returns how many messages a text takes. One character outside of GSM-7 puts the whole text into UCS-2. */
export function segmentsOf(text: string): Segments {
  const characters = Array.from(text);
  const isGsm = characters.every((character) => BASIC.includes(character) || EXTENSION.includes(character));
  const alphabet = isGsm ? 'GSM-7' : 'UCS-2';
  const extended = characters.filter((character) => EXTENSION.includes(character)).length;
  const length = text.length + (isGsm ? extended : 0);
  const { alone, part } = PLACES[alphabet];
  return { alphabet, length, most: alone, count: length <= alone ? 1 : Math.ceil(length / part) };
}
