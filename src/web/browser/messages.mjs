// Fetches the messages of development, with the token in the fragment of the link that the service prints. Browsers do
// not send fragments to servers, and no other page can send the token in a header.
const KEY = 'inbox-token';

function takeToken() {
  const [, given] = /^#inbox=([\w-]+)$/.exec(location.hash) ?? [];
  if (!given) return;
  sessionStorage.setItem(KEY, given);
  // Keeps it out of the history.
  history.replaceState(null, '', location.pathname + location.search);
}

takeToken();
// For the link of a later start, opened in the same tab.
addEventListener('hashchange', takeToken);

/** Returns the part of a link that hands the token on to another tab. */
export function fragment() {
  const token = sessionStorage.getItem(KEY);
  return token ? `#inbox=${token}` : '';
}

/** Returns the answer: `result` with the messages, or a `message` for the reader. */
export async function fetchMessages(address) {
  const token = sessionStorage.getItem(KEY) ?? '';
  const response = await fetch(address, { headers: { Authorization: `Bearer ${token}` } });
  return response.json();
}
