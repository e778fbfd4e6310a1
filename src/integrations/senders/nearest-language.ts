/** Returns the language of a list that is nearest to a wanted one: itself, else with its region, script, or neither. */
export function nearestLanguage<Offered extends string>(
  wanted: string | undefined,
  offered: readonly Offered[],
): Offered | undefined {
  const locale = localeOf(wanted ?? '');
  const alike = offered.filter((one) => localeOf(one)?.language === locale?.language);
  const withSame = (...parts: ('script' | 'region')[]) =>
    alike.find((one) => parts.every((part) => localeOf(one)?.[part] === locale?.[part]));
  const itself = alike.find((one) => tagOf(one) === tagOf(wanted ?? ''));
  return locale && (itself ?? withSame('script', 'region') ?? withSame('script') ?? alike[0]);
}

/** Meta writes pt_BR. */
function tagOf(language: string): string {
  return language.replaceAll('_', '-').toLowerCase();
}

/** Returns a language with its usual script and region: zh-Hant is zh-Hant-TW. */
function localeOf(language: string): Intl.Locale | undefined {
  try {
    return new Intl.Locale(tagOf(language)).maximize();
  } catch {
    return undefined;
  }
}
