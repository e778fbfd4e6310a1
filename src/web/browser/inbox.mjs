// Shows the messages of development. Asks for them only while the page is visible.
import { fetchMessages } from './messages.mjs';

const EVERY_MS = 2_000;

const state = document.querySelector('#state');
const list = document.querySelector('.messages');
let shown = '';
let timer;

function begin() {
  clearInterval(timer);
  timer = setInterval(refresh, EVERY_MS);
  void refresh();
}

async function refresh() {
  if (document.hidden) return;
  const current = timer;
  try {
    const { code, result, message } = await fetchMessages('inbox.json');
    if (result) show(result);
    else state.textContent = message;
    // The token is missing, or that of an earlier start.
    if (code === 404) clearInterval(current);
  } catch {
    state.textContent = 'The service cannot be reached.';
  }
}

function show(messages) {
  state.textContent = messages.length === 0 ? 'Nothing was sent yet.' : `Messages: ${messages.length}`;
  const now = JSON.stringify(messages);
  if (now === shown) return;
  shown = now;
  list.replaceChildren(...messages.map(asItem));
}

function asItem({ to, body, code, at }) {
  const item = document.querySelector('#message').content.cloneNode(true).firstElementChild;
  const part = (selector) => item.querySelector(selector);
  part('.to').textContent = to;
  part('time').dateTime = at;
  part('time').textContent = new Date(at).toLocaleTimeString();
  part('.text').textContent = body;
  part('.code').hidden = code === undefined;
  part('.code code').textContent = code ?? '';
  part('.copy').hidden = !navigator.clipboard;
  part('.copy').setAttribute('aria-label', `Copy the code ${code}`);
  part('.copy').addEventListener('click', () => navigator.clipboard.writeText(code));
  return item;
}

begin();
// A link with another token was opened in this tab.
addEventListener('hashchange', begin);
