import { SECRETS, VARIABLES } from '../config/variables';

/** First words of our variables that no other known program uses. */
const OURS =
  /^(DATABASE|SMS|TWILIO|WHATSAPP|TELEGRAM|MESSAGING|RONGCLOUD|STORAGE|QINIU|CAPTCHA|PORTRAIT|SPEND_GUARD|NOTIFY_TEXT|SESSION|UPLOADS?|SEND_CODE|WRONG_CODES|LOGIN_FAILURES|LOGINS_PER|FINDS_PER|CHECKS_PER|VERIFIES_PER|GROUPS?|VERIFICATION)_/;
/** Variables of desktops, and of Kubernetes in each container, for instance for a service named "database". */
const OF_OTHERS = /^SESSION_MANAGER$|_SERVICE_(HOST|PORT)(_|$)|_PORT(_\d+_(TCP|UDP)(_|$)|$)/;
/** Minimum lengths. In short names one or two letters make another word: HOST and COST, HOST and HOME. */
const ONE_WRONG = 6;
const TWO_WRONG = 8;

const KNOWN = [...VARIABLES, ...SECRETS.map((name) => `${name}_FILE`)];

/** Returns a line for each variable that is probably meant for us, but has no effect. Shows no values. */
export function unknownVariables(env: Record<string, string | undefined>): string[] {
  const names = Object.keys(env).filter((name) => !KNOWN.includes(name) && !OF_OTHERS.test(name));
  return names.flatMap((name) => {
    const meant = nearest(name);
    if (meant) return [`${name}: is not a setting of this service, and has no effect: did you mean ${meant}?`];
    return OURS.test(name)
      ? [`${name}: is not a setting of this service, and has no effect: .env.example lists all settings`]
      : [];
  });
}

function nearest(name: string): string | undefined {
  const [first] = KNOWN.map((known) => ({ known, distance: distanceOf(name.toUpperCase(), known) }))
    .filter(({ known, distance }) => distance <= wrongLetters(Math.min(name.length, known.length)))
    .sort((one, other) => one.distance - other.distance);
  return first?.known;
}

function wrongLetters(length: number): number {
  if (length < ONE_WRONG) return 0;
  return length < TWO_WRONG ? 1 : 2;
}

/** Counts letters that are missing, superfluous or different, and swapped neighbours. */
function distanceOf(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > 2) return Infinity;
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  const distanceAt = (row: number, column: number) => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= one.length; row += 1) {
    rows.push([row]);
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      const ways = [
        distanceAt(row - 1, column) + 1,
        distanceAt(row, column - 1) + 1,
        distanceAt(row - 1, column - 1) + (isSame ? 0 : 1),
      ];
      if (isSwapped) ways.push(distanceAt(row - 2, column - 2) + 1);
      rows[row]?.push(Math.min(...ways));
    }
  }
  return distanceAt(one.length, other.length);
}
