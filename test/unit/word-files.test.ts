import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/config';
import { acceptedLanguages, lookUp } from '../../src/features/sending/languages';
import { hasLastLine, lastLineFor } from '../../src/features/sending/last-line';
import { segmentsOf } from '../../src/features/sending/segments';
import { Words } from '../../src/features/sending/words';
import { filled, HAPPENINGS, readWords } from '../../src/features/sending/words-files';

const SHIPPED = join(__dirname, '../../src/features/sending/words');
const HASH = 'FA+9qCX9VSu';
/** The longest values: a code, and the minutes of a year. */
const LONGEST = ['000000', 365 * 86_400] as const;

const directory = mkdtempSync(join(tmpdir(), 'accounts-words-'));
afterEach(() => {
  for (const file of readdirSync(directory)) rmSync(join(directory, file));
});
afterAll(() => rmSync(directory, { recursive: true }));

function write(file: string, content: unknown): void {
  writeFileSync(join(directory, file), typeof content === 'string' ? content : JSON.stringify(content));
}

const settings = (env: Record<string, string> = {}) => loadConfig({ WORDS_DIR: directory, ...env }).words;
const mistakesWith = (env: Record<string, string> = {}) => readWords(settings(env)).mistakes;
const toldWith = (env: Record<string, string> = {}) => readWords(settings(env)).warnings;
const english = JSON.parse(readFileSync(join(SHIPPED, 'en.json'), 'utf8')) as Record<string, string>;

describe('the shipped words', () => {
  const { languages, mistakes, warnings } = readWords(loadConfig({}).words);

  it('are those of ten languages, without a mistake, each text in one message', () => {
    const files = readdirSync(SHIPPED).map((name) => name.replace('.json', ''));
    expect([...languages.keys()].sort()).toEqual(['ar', 'de', 'en', 'es', 'fr', 'id', 'it', 'pt', 'tr', 'zh']);
    expect(files.sort()).toEqual([...languages.keys()].sort());
    expect({ mistakes, warnings }).toEqual({ mistakes: [], warnings: [] });
  });

  it.each([...languages])('have the code, its time and each notice in %s', (_, texts) => {
    expect(texts.code.match(/\{[^}]*\}/g)?.sort()).toEqual(['{code}', '{minutes}']);
    expect(Object.keys(texts).sort()).toEqual(['code', ...HAPPENINGS].sort());
    expect(new Set(Object.values(texts)).size).toBe(HAPPENINGS.length + 1);
    for (const text of Object.values(texts)) expect(text).toBe(text.trim());
  });

  it.each([...languages])(
    'fit into one message with the longest values in %s, also with the line of an app',
    (_, texts) => {
      for (const text of Object.values(texts)) expect(segmentsOf(filled(text, ...LONGEST))).toMatchObject({ count: 1 });
      expect(segmentsOf(filled(`${texts.code}\n${HASH}`, ...LONGEST))).toMatchObject({ count: 1 });
    },
  );

  it.each([...languages])('fit into one message with the line of a domain of 20 characters in %s', (_, texts) => {
    const line = '@accounts.example.com #{code}';
    expect(segmentsOf(filled(`${texts.code}\n${line}`, '000000', 300))).toMatchObject({ count: 1 });
  });

  it('are in English those of the versions before', () => {
    expect(languages.get('en')).toMatchObject({
      code: '{code} is your verification code. It is valid for {minutes} minutes. Do not share it.',
      account_closed: 'Your account was closed. If this was not you, ask for help now.',
    });
  });
});

describe('the messages that a text takes', () => {
  it.each([
    ['a'.repeat(160), 'GSM-7', 160, 1],
    ['a'.repeat(161), 'GSM-7', 161, 2],
    ['a'.repeat(306), 'GSM-7', 306, 2],
    ['a'.repeat(307), 'GSM-7', 307, 3],
    ['é'.repeat(160), 'GSM-7', 160, 1],
    ['€'.repeat(80), 'GSM-7', 160, 1],
    [`${'€'.repeat(80)}a`, 'GSM-7', 161, 2],
    ['ç'.repeat(70), 'UCS-2', 70, 1],
    [`${'a'.repeat(70)}ç`, 'UCS-2', 71, 2],
    ['验'.repeat(134), 'UCS-2', 134, 2],
    ['😀'.repeat(35), 'UCS-2', 70, 1],
    ['😀'.repeat(36), 'UCS-2', 72, 2],
    [`{${'ç'.repeat(69)}`, 'UCS-2', 70, 1],
  ])('are counted in the alphabet of the text (%#)', (text, alphabet, length, count) => {
    expect(segmentsOf(text)).toMatchObject({ alphabet, length, count });
  });
});

describe("an operator's words", () => {
  it('add languages, and replace some texts of those that there are', () => {
    write('nl.json', { ...english, code: 'Uw code: {code}' });
    write('zh-Hant.json', { ...english, code: '驗證碼 {code}' });
    write('de.json', { code: 'Code {code}' });
    const { languages, mistakes } = readWords(settings());
    expect(mistakes).toEqual([]);
    expect(languages.size).toBe(12);
    expect(languages.get('zh-hant')?.code).toBe('驗證碼 {code}');
    expect(languages.get('de')).toMatchObject({
      code: 'Code {code}',
      account_closed: expect.stringMatching(/^Ihr Konto/) as string,
    });
  });

  // guard word-files-1: the service does not start with a text that lacks the code
  // src/features/sending/words-files.ts
  // - code?.includes('{code}') === false
  // + code === undefined
  it.each<[string, string, unknown, string]>([
    ['a name that is not of a language', 'dutch_words.json', english, 'must be named after a language'],
    ['a text that is not JSON', 'nl.json', '{ code: 1 }', 'must be JSON'],
    ['a list', 'nl.json', [], 'must be a JSON object of texts'],
    ['no words', 'nl.json', 'null', 'must be a JSON object of texts'],
    ['a text that is a number', 'nl.json', { ...english, code: 1 }, 'must have a text as code'],
    ['an empty text', 'nl.json', { ...english, locked_out: ' ' }, 'must have a text as locked_out'],
    [
      'a misspelt name',
      'nl.json',
      { ...english, lockedOut: 'x' },
      'has lockedOut: its texts must be code, password_reset',
    ],
    [
      'a new language without all texts',
      'nl.json',
      { code: '{code}' },
      'must also have password_reset, password_changed',
    ],
    ['a code without the code', 'nl.json', { ...english, code: 'Uw code' }, 'must have {code} in its text code'],
    [
      'another word in braces',
      'nl.json',
      { ...english, code: '{code} {minuten}' },
      'must not have {minuten} in its text code',
    ],
    [
      'the code in a notice',
      'nl.json',
      { ...english, new_device: '{code}' },
      'must not have {code} in its text new_device',
    ],
    [
      'a code that takes two messages',
      'nl.json',
      { ...english, code: `{code} ${'ç'.repeat(64)}` },
      'must have a text code that fits into one message, and not 71 of 70 places of UCS-2',
    ],
  ])('are refused with %s, in one line that names the file', (_, file, content, mistake) => {
    write(file, content);
    const mistakes = mistakesWith();
    expect(mistakes).toEqual([expect.stringMatching(/^WORDS_DIR: [\w-]+\.json /)]);
    expect(mistakes[0]).toContain(mistake);
  });

  it('are refused where their folder, or the default language, does not exist', () => {
    expect(mistakesWith({ WORDS_DIR: join(directory, 'none') })).toEqual([
      'WORDS_DIR: must be a folder that this user may read (ENOENT)',
    ]);
    expect(mistakesWith({ DEFAULT_LANGUAGE: 'nl' })).toEqual([
      expect.stringMatching(/^DEFAULT_LANGUAGE: must be one of ar, de/),
    ]);
    for (const [given, meant] of Object.entries({ english: 'en', 'en-GB': 'en', Chinese: 'zh' }))
      expect(mistakesWith({ DEFAULT_LANGUAGE: given })).toEqual([
        expect.stringMatching(new RegExp(`^DEFAULT_LANGUAGE: must be one of .*: did you mean ${meant}\\?$`)),
      ]);
    write('nl.json', english);
    expect(mistakesWith({ DEFAULT_LANGUAGE: 'NL' })).toEqual([]);
  });

  it('are told of where they take more than one message', () => {
    write('nl.json', { ...english, new_device: 'ç'.repeat(71) });
    expect(toldWith()).toEqual(['new_device: takes more than one message in nl (71 of 70 places of UCS-2)']);
  });

  it('are told of where a last line makes it two messages, by language', () => {
    const CORS_ORIGINS = 'https://an-app-with-a-rather-long-name.example.com,capacitor://localhost';
    expect(toldWith({ SMS_ANDROID_HASH: HASH, CORS_ORIGINS })).toEqual([
      'a code with the line @an-app-with-a-rather-long-name.example.com #{code}: takes more than one message in ar (92 of 70 places of UCS-2), es (92 of 70 places of UCS-2), pt (92 of 70 places of UCS-2), zh (81 of 70 places of UCS-2)',
    ]);
  });
});

describe('texts of the settings', () => {
  it('replace those of every language, and are told of where they take more than one message', () => {
    const env = { SMS_TEXT: `{code} ${'x'.repeat(160)}`, NOTIFY_TEXT_NEW_DEVICE: 'new device' };
    const words = new Words(settings(env));
    expect(words.code({ language: 'fr' }, '123456')).toMatch(/^123456 x/);
    expect(words.notice('new_device', 'zh')).toBe('new device');
    expect(words.notice('locked_out', 'zh')).toMatch(/^您/);
    expect(toldWith(env)).toEqual([
      'SMS_TEXT: takes more than one message in every language (167 of 160 places of GSM-7)',
    ]);
  });

  it('replace nothing where they are the English text, as in settings of older versions', () => {
    const env = { SMS_TEXT: english.code ?? '', NOTIFY_TEXT_NEW_DEVICE: english.new_device ?? '' };
    const words = new Words(settings(env));
    expect(words.code({ language: 'fr' }, '123456')).toMatch(/^123456 est/);
    expect(words.notice('new_device', 'fr')).toMatch(/^Connexion/);
  });
});

describe('the language of a message', () => {
  it.each<[string, string[]]>([
    ['', []],
    ['fr', ['fr']],
    ['en-GB, fr;q=0.8, de;q=0.9', ['en-gb', 'de', 'fr']],
    ['da, en-gb;q=0.8, en;q=0.7', ['da', 'en-gb', 'en']],
    ['fr;q=0, *;q=0.5, en; q=0.1', ['en']],
    ['zh-Hant-TW ; q=1.000, x;q=2, en;q=0.1234, fr;level=1', ['zh-hant-tw']],
    ['not a language, de', ['de']],
  ])('is read from Accept-Language: %s', (header, languages) => {
    expect(acceptedLanguages(header)).toEqual(languages);
  });

  // guard word-files-2: a header of many languages is read only in part
  // src/features/sending/languages.ts
  // - .split(',', MOST_RANGES)
  // + .split(',')
  // guard word-files-3: a language of a thousand parts is not looked up
  // src/features/sending/languages.ts
  // - text.length <= LONGEST_TAG && TAG
  // + TAG
  it('is read from a hostile Accept-Language in little time', () => {
    expect(acceptedLanguages(`${'a-'.repeat(4_000)}a, de`)).toEqual(['de']);
    expect(acceptedLanguages('xx,'.repeat(4_000))).toHaveLength(20);
  });

  it.each<[string[], string | undefined]>([
    [['zh-Hant-TW'], 'zh'],
    [['pt-BR', 'en'], 'pt-br'],
    [['pt-PT', 'en'], 'pt'],
    [['xx', 'EN-gb'], 'en'],
    [['en-u-ca-gregory'], 'en'],
    [['en_US'], 'en'],
    [['xx', ''], undefined],
    [['e', 'english'], undefined],
    [[], undefined],
  ])('is looked up part by part: %s', (wanted, found) => {
    expect(lookUp(wanted, (tag) => ['en', 'pt', 'pt-br', 'zh'].includes(tag))).toBe(found);
  });

  it('is that of the field, else of the header, else the default', () => {
    const words = new Words(settings({ DEFAULT_LANGUAGE: 'de' }));
    const client = { kind: undefined, origin: undefined };
    const language = (field?: string, header?: string) => words.wordingFor({ field, header }, client).language;
    expect(language('fr-CA', 'es')).toBe('fr');
    expect(language(undefined, 'es')).toBe('es');
    expect(language('xx', 'es')).toBe('es');
    expect(language('xx', 'yy')).toBe('');
    expect(words.code({ language: '' }, '123456')).toMatch(/Bestätigungscode/);
    expect(words.code({ language: 'gone' }, '123456')).toMatch(/Bestätigungscode/);
  });
});

describe('the last line of a code', () => {
  const lines = {
    androidHash: HASH,
    ownOrigin: 'https://accounts.example.com',
    origins: [
      'https://app.example.com',
      'http://a.example.com',
      'https://localhost',
      'https://10.1.2.3',
      'capacitor://localhost',
    ],
  };
  const lineFor = (kind?: 'android' | 'ios' | 'web', origin?: string) => lastLineFor({ kind, origin }, lines);

  it('is the hash of the app for Android, and nothing for iOS, which reads the text', () => {
    expect(lineFor('android')).toBe(HASH);
    expect(lineFor('android', 'https://localhost')).toBe(HASH);
    expect(lineFor('ios', 'https://app.example.com')).toBeUndefined();
    expect(lineFor()).toBeUndefined();
  });

  it("is the domain of the page, for our own and the operator's origins only", () => {
    expect(lineFor(undefined, 'https://app.example.com')).toBe('@app.example.com #{code}');
    expect(lineFor('web', 'https://accounts.example.com')).toBe('@accounts.example.com #{code}');
    expect(lineFor('web')).toBe('@accounts.example.com #{code}');
    for (const origin of ['https://evil.example', 'https://app.example.com.evil.example', 'null', 'x', ''])
      for (const kind of ['web', undefined] as const) expect(lineFor(kind, origin)).toBeUndefined();
  });

  it('is left out for origins that browsers do not read in a message', () => {
    for (const origin of lines.origins.slice(1)) expect(lineFor('web', origin)).toBeUndefined();
    expect(lastLineFor({ kind: 'web', origin: undefined }, { ...lines, ownOrigin: undefined })).toBeUndefined();
  });

  // guard word-files-4: a text with a last line of its own gets no other
  // src/features/sending/words.ts
  // - lastLine === undefined || hasLastLine(text)
  // + lastLine === undefined
  it.each([
    [`{code} is your code\n${HASH}`, true],
    [`<#> {code} ${HASH}`, true],
    ['{code}\n@example.com #{code}', true],
    ['{code}\n@example.com #{code} @embedded.example', true],
    ['{code} is your code. Do not tell', false],
    ['{code} is for colleagues1', true],
    ['{code} is for your colleagues', false],
    ['{code} is your information', false],
    ['{code} @example.com #{code}', false],
  ])('is not added to a text that has one of its own: %s', (text, has) => {
    expect(hasLastLine(text)).toBe(has);
    const words = new Words(settings({ SMS_TEXT: text, SMS_ANDROID_HASH: HASH }));
    const whole = words.code({ language: '', lastLine: HASH }, '123456');
    expect(whole).toBe(text.replaceAll('{code}', '123456') + (has ? '' : `\n${HASH}`));
  });
});
