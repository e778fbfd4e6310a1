import { cookieOf, expectRefusal, post } from '../support/calls';
import { fieldsOf, OPERATIONS, pathOf, refusalOfBody, refusalOfParams } from '../support/operations';
import { insertPerson, newPhone } from '../support/people';
import { stage } from '../support/stage';

/** All messages about a field. */
const OURS = [
  /^is missing$/,
  /^must be a string$/,
  /^must not contain NUL$/,
  /^must be well-formed Unicode$/,
  /^must be \d+ to [\d,]+ bytes of UTF-8$/,
  /^must be \d+ to \d+ characters$/,
  /^must not contain (control characters|bidirectional overrides \(U\+202A to U\+202E\))$/,
  /^must not contain white space$/,
  /^must be 1 to 64 letters, digits, - or _$/,
  /^must be true or false$/,
  /^must be android, ios or web$/,
  /^must be one of [a-z, ]+$/,
  /^must be an array of ids$/,
  /^must be (1 to 100|at most 499) ids$/,
  /^must be an absolute http or https URL, with :\/\/ once, without user, password, quotes, < and >$/,
  /^must be only digits, as a JSON number or a string$/,
  /^is not an international dialling code$/,
  /^is not a possible number of region \d+$/,
  /^must be an integer from 0 to 9007199254740991$/,
];

/** Values of every JSON type, and of every form that some field refuses. */
const WRONG = [
  undefined,
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e300,
  {},
  { a: 1 },
  [],
  [[]],
  [null],
  [1],
  [''],
  '',
  ' ',
  'a',
  'a b c d',
  'a\0b',
  '\ud800',
  'not an id',
  'é'.repeat(20),
  'x'.repeat(9_000),
  'ftp://a.b',
  'http://http://a.b',
  '44',
  '999',
  '1'.repeat(40),
  '٤٤',
  Array(101).fill('x'),
  Array(500).fill('x'),
];
const WRONG_IN_PATHS = [
  '%00',
  '%20',
  '.',
  "'",
  '-1',
  '1.5',
  '9'.repeat(17),
  '٤٤',
  '999',
  'x'.repeat(65),
  '%F0%9F%98%80',
];

const { app } = stage();
let cookie: string;
beforeAll(async () => {
  const { region, phone, password } = await insertPerson(app);
  cookie = cookieOf(await post(app.api, '/user/login', { region, phone, password }));
});

const right = { ...newPhone(), password: 'secret1', friendId: 'x', groupId: 'x', memberIds: ['x'], name: 'Hikers' };

describe.each(OPERATIONS.filter(({ body, params }) => body ?? params))('$path', (operation) => {
  const { path, body, params } = operation;
  const inBodies = fieldsOf(body, 'input').flatMap((name) => WRONG.map((value) => ({ ...right, [name]: value })));
  const asked = [
    ...[{}, ...inBodies].map((fields) => ({ path, fields, refusal: refusalOfBody(operation, fields) })),
    ...fieldsOf(params, 'input').flatMap((name) =>
      WRONG_IN_PATHS.map((value) => ({
        path: path.replace(`:${name}`, encodeURI(value)),
        fields: {},
        refusal: refusalOfParams(operation, { [name]: value }),
      })),
    ),
  ];

  // guard messages-1: each wrong field gets a message in the service's own words
  // src/features/phones/phone-fields.ts
  // - .regex(/^[0-9]{1,32}$/, MESSAGE)
  // + .regex(/^[0-9]{1,32}$/)
  it("answers with one message for each wrong field, in the service's own words", async () => {
    const refused = asked.flatMap(({ refusal, ...sent }) => (refusal ? [{ ...sent, refusal }] : []));
    const said = new Set<string>();
    for (const { refusal } of refused) {
      const { message, details = [] } = refusal;
      expect(refusal).toMatchObject({ reason: 'invalid_input', code: 400 });
      expect(new Set(details.map((problem) => problem.path)).size).toBe(details.length);
      expect(message).toBe(details.map((one) => `${one.path}: ${one.message}`).join('; '));
      for (const one of details) said.add(one.message);
    }
    expect(said.size).toBeGreaterThan(0);
    expect([...said].filter((message) => !OURS.some((ours) => ours.test(message)))).toEqual([]);

    // The answer to a request is the refusal of the schema.
    const last = refused.at(-1);
    const answer = await post(app.api, pathOf(last ?? { path }), last?.fields, { Cookie: cookie });
    expectRefusal(answer, 400);
    const { code, reason, message, details } = last?.refusal ?? {};
    expect(answer.body).toEqual({ code, reason, message, details });
  });
});
