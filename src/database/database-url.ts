/** The address with a password put into it, which may hold any character; undefined where there is no place for one. */
export function withPassword(address: string, password: string): string | undefined {
  const url = new URL(address);
  if (url.host === '' || url.password !== '' || url.searchParams.has('password')) return undefined;
  url.password = encodeURIComponent(password);
  return url.href;
}
