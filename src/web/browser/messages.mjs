// Fetches the messages of development, with the token in the fragment of the link that the service prints. Browsers do
// not send fragments to servers, and no other page can send the token in a header.
const KEY = 'inbox-token';

function takeToken() {
  const [, given] = /^#inbox=([\w-]+)$/.exec(location.hash) ?? [];
  if (given) {
    sessionStorage.setItem(KEY, given);
    // Keeps it out of the history.
    history.replaceState(null, '', location.pathname + location.search);
  }
  handOn(sessionStorage.getItem(KEY));
}

/** Adds the token to links, which may open another tab, and shows what to do without it. */
function handOn(token) {
  for (const link of document.querySelectorAll('.with-token')) link.hash = token ? `inbox=${token}` : '';
  for (const note of document.querySelectorAll('.without-token')) note.hidden = token !== null;
}

takeToken();
// For the link of a later start, opened in the same tab.
addEventListener('hashchange', takeToken);

/** Returns the answer: `result` with the messages, or a `code` and a `message` for the reader. */
export async function fetchMessages(address) {
  const token = sessionStorage.getItem(KEY) ?? '';
  const response = await fetch(address, { headers: { Authorization: `Bearer ${token}` } });
  const { message, ...answer } = await response.json();
  return message ? { ...answer, message: `${message[0].toUpperCase()}${message.slice(1)}.` } : answer;
}
