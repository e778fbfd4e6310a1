type Environment = Record<string, string | undefined>;

/** Matches a variable that contains no other. */
const INNERMOST = /\$\{(\w+)(?:(:?)([-?])([^{}$]*))?\}/;

/** Expands ${NAME}, also with ":-default", ":?message" and "?message", as compose does. Throws the message. */
export function interpolate(text: string, env: Environment): string {
  const [whole, name = '', colon, rule, rest = ''] = INNERMOST.exec(text) ?? [];
  if (whole === undefined) return text;
  const value = env[name];
  const isThere = value !== undefined && (colon !== ':' || value !== '');
  if (rule === '?' && !isThere) throw new Error(`${name}: ${rest}`);
  return interpolate(
    text.replace(whole, () => (isThere ? value : rest)),
    env,
  );
}
