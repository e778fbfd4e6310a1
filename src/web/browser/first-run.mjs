// The first run, from a phone number to a synchronised client: a form for each call, its command for curl, its answer.

import { fetchMessages } from './messages.mjs';

const { inbox } = document.body.dataset;

/** Values that the calls share. A field shows the value with its name. */
const values = { region: '44', phone: '', code: '', verification_token: '', nickname: '', password: '', version: '0' };
// In development any number will do: each time a new one, without an account. Elsewhere people have phones.
if (inbox) Object.assign(values, { phone: `79${digits(8)}`, nickname: 'Ann', password: 'opensesame' });
values.newNickname = values.nickname && `${values.nickname} Onymous`;

const PHONE = ({ region, phone }) => ({ region: Number(region), phone });

const STEPS = [
  {
    title: 'Request a code',
    about: 'A code of six digits goes to the phone by SMS.',
    button: 'Send the code',
    path: () => 'user/send_code',
    fields: [numeric('region', 'Calling code'), numeric('phone', 'Phone')],
    body: PHONE,
  },
  {
    title: 'Verify the code',
    about: inbox
      ? 'Development does not send SMS: the code is in the inbox, and in the terminal of the service.'
      : 'Type the code from the SMS.',
    button: 'Verify the code',
    path: () => 'user/verify_code',
    fields: [numeric('code', 'Code')],
    body: (all) => ({ ...PHONE(all), code: all.code }),
    more: inbox && { button: 'Fetch the code from the inbox', act: fetchCode },
    keep: ({ verification_token }) => ({ verification_token }),
  },
  {
    title: 'Register',
    about: 'The verification token stands for the phone.',
    button: 'Register',
    path: () => 'user/register',
    fields: [text('nickname', 'Nickname'), password('password', 'Password, 6 to 20 bytes')],
    body: ({ nickname, password, verification_token }) => ({ nickname, password, verification_token }),
  },
  {
    title: 'Log in',
    about: 'This sets the cookie. From now on, each call from this browser is made as the new user.',
    button: 'Log in',
    path: () => 'user/login',
    fields: [],
    body: (all) => ({ ...PHONE(all), password: all.password }),
  },
  {
    title: 'Set the nickname',
    about: 'The next synchronisation shows it.',
    button: 'Set the nickname',
    path: () => 'user/set_nickname',
    fields: [text('newNickname', 'New nickname')],
    body: ({ newNickname }) => ({ nickname: newNickname }),
  },
  {
    title: 'Synchronise',
    about: 'Everything since a version; 0 is the beginning. The next call takes the version of this answer.',
    button: 'Synchronise',
    path: ({ version }) => `user/sync/${encodeURIComponent(version)}`,
    fields: [numeric('version', 'Version')],
    keep: ({ version }) => ({ version: String(version) }),
  },
];

const inputs = [];
const shown = STEPS.map(show);
setCurrent(0);
refresh();

function show(step, index) {
  const item = document.querySelector('#step').content.cloneNode(true).firstElementChild;
  const part = (selector) => item.querySelector(selector);
  part('h3').textContent = step.title;
  part('.about').textContent = step.about;
  part('.fields').append(...step.fields.map(labelled));
  part('[type=submit]').textContent = step.button;
  part('.copy').setAttribute('aria-label', `Copy the command of step ${index + 1}`);
  part('.copy').hidden = !navigator.clipboard;
  part('.copy').addEventListener('click', () => copy(part('.copy'), part('.curl').textContent));
  part('.curl').setAttribute('aria-label', `Command of step ${index + 1}`);
  part('.body').setAttribute('aria-label', `Answer of step ${index + 1}`);
  if (step.more) part('.buttons').prepend(moreButton(step.more, part));
  part('form').addEventListener('submit', (event) => {
    event.preventDefault();
    void send(step, index);
  });
  document.querySelector('.steps').append(item);
  return { step, item, part };
}

function labelled({ name, label, ...attributes }) {
  const input = Object.assign(document.createElement('input'), attributes, { name, value: values[name] });
  input.addEventListener('input', () => {
    values[name] = input.value.trim();
    refresh();
  });
  inputs.push(input);
  const element = document.createElement('label');
  element.append(label, input);
  return element;
}

function moreButton({ button, act }, part) {
  const element = Object.assign(document.createElement('button'), {
    type: 'button',
    className: 'quiet',
    textContent: button,
  });
  element.addEventListener('click', () => act((words) => say(part, words, true)));
  return element;
}

/** Updates the fields with the values, and the commands with the calls. */
function refresh() {
  for (const input of inputs) if (input.value.trim() !== values[input.name]) input.value = values[input.name];
  for (const { step, part } of shown) part('.curl').textContent = curl(step);
}

function curl({ path, body }) {
  const data = body ? ` \\\n  -d '${JSON.stringify(body(values)).replaceAll("'", "'\\''")}'` : '';
  return `curl -b cookies.txt -c cookies.txt -X POST ${addressOf(path(values))}${data}`;
}

function addressOf(path) {
  return new URL(path, document.baseURI).href;
}

async function send(step, index) {
  const { item, part } = shown[index];
  part('[type=submit]').disabled = true;
  try {
    const body = step.body && JSON.stringify(step.body(values));
    const response = await fetch(addressOf(step.path(values)), { method: 'POST', ...(body && { body }) });
    const answer = await response.json();
    const isDone = response.ok && answer.code === 200;
    const reason = response.headers.get('X-Reason');
    const words = isDone ? 'Done' : `Refused${reason ? `: ${reason}` : ''}`;
    say(part, `${words} · HTTP ${response.status}, code ${answer.code}`, !isDone, answer);
    item.classList.toggle('done', isDone);
    if (isDone) proceed(step, index, answer.result);
  } catch (error) {
    say(part, `The service cannot be reached: ${error.message}`, true);
  } finally {
    part('[type=submit]').disabled = false;
  }
}

function proceed({ keep }, index, result) {
  if (keep) Object.assign(values, keep(result));
  refresh();
  setCurrent(index + 1);
}

function setCurrent(next) {
  shown.forEach(({ item }, index) => {
    if (index === next) item.setAttribute('aria-current', 'step');
    else item.removeAttribute('aria-current');
  });
}

function say(part, words, isRefused, answer) {
  part('.answer').hidden = false;
  part('.answer').classList.toggle('refused', isRefused);
  part('output').textContent = words;
  part('.body').hidden = answer === undefined;
  part('.body').textContent = answer === undefined ? '' : JSON.stringify(answer, null, 2);
}

/** Fills in the code of the newest message to this phone. */
async function fetchCode(complain) {
  const { result = [], message } = await fetchMessages(`${inbox}.json`).catch(() => ({
    message: 'The service does not answer',
  }));
  const to = `+${values.region}${values.phone.replace(/^0+/, '')}`;
  const code = result.find((sms) => sms.to === to && sms.code)?.code;
  if (!code) return complain(message ?? `Nothing was sent to ${to} yet`);
  values.code = code;
  refresh();
  inputs.find(({ name }) => name === 'code').focus();
}

async function copy(button, words) {
  await navigator.clipboard.writeText(words);
  button.textContent = 'Copied';
  setTimeout(() => (button.textContent = 'Copy'), 2_000);
}

function numeric(name, label) {
  return { name, label, inputMode: 'numeric' };
}

function text(name, label) {
  return { name, label };
}

function password(name, label) {
  return { name, label, type: 'password', autocomplete: 'new-password' };
}

function digits(count) {
  return [...crypto.getRandomValues(new Uint8Array(count))].map((byte) => byte % 10).join('');
}
