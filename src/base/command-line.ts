/** The words before those of a command, in an installed package. Its own command sets them: they are not a setting. */
const PREFIX = process.env.ACCOUNTS_COMMAND;

/** Whether this is an installed package, and not a clone with its compose file. */
export const IS_PACKAGE = PREFIX !== undefined;

/** Returns how an operator runs a command here: by the package's own name, or by npm in a clone. */
export function commandLine(name: string, ...words: string[]): string {
  const byNpm = [name === 'start' ? 'npm' : 'npm run', name, ...(words.length > 0 ? ['--'] : [])];
  return [...(PREFIX === undefined ? byNpm : [PREFIX, name]), ...words].join(' ');
}
