import { SECRETS, VARIABLES } from '../config/variables';

/** First words of ours that no other program's variables are known to have. */
const OURS =
  /^(DATABASE|SMS|TWILIO|MESSAGING|RONGCLOUD|STORAGE|QINIU|CAPTCHA|PORTRAIT|SPEND_GUARD|NOTIFY_TEXT|SESSION|UPLOADS?|SEND_CODE|WRONG_CODES|LOGIN_FAILURES|LOGINS_PER|FINDS_PER|CHECKS_PER|VERIFIES_PER|GROUPS?|VERIFICATION)_/;
/** Of a desktop, and what Kubernetes tells each container of a service that is called "database", for instance. */
const OF_OTHERS = /^SESSION_MANAGER$|_SERVICE_(HOST|PORT)(_|$)|_PORT(_\d+_(TCP|UDP)(_|$)|$)/;
/** In shorter names one letter makes another word, or two do: HOST and COST, HOST and HOME. */
const ONE_WRONG = 6;
const TWO_WRONG = 8;

const KNOWN = [...VARIABLES, ...SECRETS.map((name) => `${name}_FILE`)];

/** A line for each variable that is probably meant for this service, and changes nothing. It shows no value. */
export function unknownVariables(env: Record<string, string | undefined>): string[] {
  const names = Object.keys(env).filter((name) => !KNOWN.includes(name) && !OF_OTHERS.test(name));
  return names.flatMap((name) => {
    const meant = nearest(name);
    if (meant) return [`${name}: is no setting of this service, and changes nothing: is ${meant} meant?`];
    return OURS.test(name)
      ? [`${name}: is no setting of this service, and changes nothing: .env.example names all there are`]
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

/** Letters that are missing, too many or others, and neighbours that have changed places. */
function distanceOf(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > 2) return Infinity;
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= one.length; row += 1) {
    rows.push([row]);
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      const ways = [at(row - 1, column) + 1, at(row, column - 1) + 1, at(row - 1, column - 1) + (isSame ? 0 : 1)];
      if (isSwapped) ways.push(at(row - 2, column - 2) + 1);
      rows[row]?.push(Math.min(...ways));
    }
  }
  return at(one.length, other.length);
}
