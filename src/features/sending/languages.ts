/** A language tag of RFC 5646. Longer ones are not used for messages. */
const TAG = /^[a-z]{1,8}(-[a-z0-9]{1,8})*$/;
const LONGEST_TAG = 35;

/** Maximum languages of a header that are looked at. */
const MOST_RANGES = 20;

const RANGE = /^([a-z0-9-]+)(?:\s*;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/;

export function isTag(text: string): boolean {
  return text.length <= LONGEST_TAG && TAG.test(text.toLowerCase());
}

/**
 * Returns the languages of an Accept-Language header, the most wanted first. Leaves out those that are not wanted
 * (q=0), `*`, which names no language, and malformed parts.
 */
export function acceptedLanguages(header: string): string[] {
  return header
    .toLowerCase()
    .split(',', MOST_RANGES)
    .map((part) => RANGE.exec(part.trim()))
    .map((found) => ({ tag: found?.[1] ?? '', weight: Number(found?.[2] ?? 1) }))
    .filter(({ tag, weight }) => isTag(tag) && weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ tag }) => tag);
}

/**
 * Finds the first wanted language that there is (lookup of RFC 4647): zh-Hant-TW, then zh-Hant, then zh. Express does
 * not find zh-Hant for zh-Hant-TW. Also reads zh_Hant_TW, as some systems write it.
 */
export function lookUp(wanted: string[], there: (tag: string) => boolean): string | undefined {
  const tags = wanted.map((tag) => tag.toLowerCase().replaceAll('_', '-')).filter(isTag);
  return tags.flatMap(shortened).find(there);
}

/** Names of languages in English. */
const NAMES = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

/** Returns the tag that is probably meant: en for en-GB, for en_GB and for English. */
export function tagMeant(given: string, known: string[]): string | undefined {
  return (
    lookUp([given], (tag) => known.includes(tag)) ??
    known.find((tag) => NAMES.of(tag)?.toLowerCase() === given.toLowerCase())
  );
}

/** Returns a tag and what remains of it, part by part. A single letter, which introduces the next part, goes with it. */
function shortened(tag: string): string[] {
  const shorter = tag.replace(/(-[a-z0-9])?-[^-]+$/, '');
  return shorter === tag ? [tag] : [tag, ...shortened(shorter)];
}
