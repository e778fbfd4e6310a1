import { hintOf, nearest } from '../base/nearest';
import { OWN_WORDS, SECRETS, VARIABLES } from '../config/variables';

const OURS = new RegExp(`^(${OWN_WORDS.join('|')})_`);
/** Variables of desktops, and of Kubernetes in each container, for instance for a service named "database". */
const OF_OTHERS = /^SESSION_MANAGER$|_SERVICE_(HOST|PORT)(_|$)|_PORT(_\d+_(TCP|UDP)(_|$)|$)/;
const KNOWN = [...VARIABLES, ...SECRETS.map((name) => `${name}_FILE`)];

/** Returns a line for each variable that is probably meant for us, but has no effect. Shows no values. */
export function unknownVariables(env: Record<string, string | undefined>): string[] {
  const names = Object.keys(env).filter((name) => !KNOWN.includes(name) && !OF_OTHERS.test(name));
  return names.flatMap((name) => {
    const meant = nearest(name.toUpperCase(), KNOWN);
    if (!meant && !OURS.test(name)) return [];
    const hint = meant ? hintOf(meant) : ': .env.example lists all settings';
    return [`${name}: is not a setting of this service, and has no effect${hint}`];
  });
}
