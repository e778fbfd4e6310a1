import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../base/errors';
import { hintOf } from '../../base/nearest';
import { isTag, tagMeant } from './languages';
import { allLastLines, hasLastLine, type LastLines } from './last-line';
import { segmentsOf, type Segments } from './segments';

/** Events that an owner is notified of. */
export const HAPPENINGS = [
  'password_reset',
  'password_changed',
  'new_device',
  'locked_out',
  'phone_changed',
  'number_claimed',
  'account_closed',
] as const;
export type Happening = (typeof HAPPENINGS)[number];

const TEXTS = ['code', ...HAPPENINGS] as const;
type TextName = (typeof TEXTS)[number];
/** The texts of a language: that of a code, with {code} and {minutes}, and one per happening. */
export type Texts = Record<TextName, string>;

export interface WordsSettings extends LastLines {
  /** Folder with files of the operator. */
  directory: string | undefined;
  defaultLanguage: string;
  /** Texts of the settings, which replace those of every language. */
  replaced: Partial<Record<TextName, string | undefined>>;
  codeTtlSeconds: number;
}

export interface ReadWords {
  /** Texts by the language's tag, in lower case. */
  languages: Map<string, Texts>;
  /** Mistakes of the operator, with which the service does not start. */
  mistakes: string[];
  /** Texts that take more than one message. */
  warnings: string[];
}

const SHIPPED = join(__dirname, 'words');

const LONGEST_CODE = '0'.repeat(6);

/** Reads the files of all languages, and checks them. */
export function readWords(settings: WordsSettings): ReadWords {
  const shipped = filesIn(SHIPPED, 'words');
  const own = settings.directory === undefined ? undefined : filesIn(settings.directory, 'WORDS_DIR');
  const mistakes = [...shipped.mistakes, ...(own?.mistakes ?? [])];
  const replaced = replacing(settings, shipped.files.get('en')?.texts);
  const languages = new Map<string, Texts>();
  for (const [tag, { name, texts }] of new Map([...shipped.files, ...(own?.files ?? [])])) {
    const all = { ...shipped.files.get(tag)?.texts, ...texts };
    mistakes.push(...mistakesIn(all, settings).map((mistake) => `${name} ${mistake}`));
    languages.set(tag, { ...(all as Texts), ...replaced });
  }
  if (!languages.has(settings.defaultLanguage.toLowerCase()))
    mistakes.push(mistakeInDefault(settings.defaultLanguage, [...languages.keys()].sort()));
  return { languages, mistakes, warnings: mistakes.length > 0 ? [] : warningsOf(languages, replaced, settings) };
}

function mistakeInDefault(given: string, known: string[]): string {
  return `DEFAULT_LANGUAGE: must be one of ${known.join(', ')}${hintOf(tagMeant(given, known))}`;
}

interface File {
  /** Name for messages, with the variable of its folder. */
  name: string;
  texts: Partial<Texts>;
}

function filesIn(directory: string, folder: string): { files: Map<string, File>; mistakes: string[] } {
  const files = new Map<string, File>();
  const mistakes: string[] = [];
  let names: string[] = [];
  try {
    names = readdirSync(directory).filter((name) => name.endsWith('.json'));
  } catch (error) {
    mistakes.push(`${folder}: must be a folder that this user may read (${codeOf(error) ?? 'unknown error'})`);
  }
  for (const file of names.sort()) {
    const tag = file.slice(0, -'.json'.length);
    const name = `${folder}: ${file}`;
    const read = isTag(tag) ? textsIn(join(directory, file)) : 'must be named after a language, such as nl or zh-Hant';
    if (typeof read === 'string') mistakes.push(`${name} ${read}`);
    else files.set(tag.toLowerCase(), { name, texts: read });
  }
  return { files, mistakes };
}

/** Returns the texts of a file, or what it must be. */
function textsIn(path: string): Partial<Texts> | string {
  let read: unknown;
  try {
    read = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    return error instanceof SyntaxError
      ? 'must be JSON'
      : `must be a file that this user may read (${codeOf(error) ?? 'unknown error'})`;
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) return 'must be a JSON object of texts';
  for (const [name, text] of Object.entries(read)) {
    if (!TEXTS.some((known) => known === name)) return `has ${name}: its texts must be ${TEXTS.join(', ')}`;
    if (typeof text !== 'string' || text.trim() === '') return `must have a text as ${name}`;
  }
  return read;
}

function mistakesIn(texts: Partial<Texts>, { codeTtlSeconds }: WordsSettings): string[] {
  const missing = TEXTS.filter((name) => texts[name] === undefined);
  const { code } = texts;
  const size = segmentsOf(filled(code ?? '', LONGEST_CODE, codeTtlSeconds));
  return [
    ...(missing.length > 0 ? [`must also have ${missing.join(', ')}`] : []),
    ...(code?.includes('{code}') === false ? ['must have {code} in its text code'] : []),
    ...(size.count > 1 ? [`must have a text code that fits into one message, and not ${sizeText(size)}`] : []),
    ...Object.entries(texts).flatMap(([name, text]) => strangersIn(name, text)),
  ];
}

/** Finds words in braces that are not filled in. */
function strangersIn(name: string, text: string): string[] {
  const known = name === 'code' ? ['{code}', '{minutes}'] : [];
  const strange = text.match(/\{[^{}]*\}/g)?.filter((word) => !known.includes(word)) ?? [];
  return strange.map((word) => `must not have ${word} in its text ${name}`);
}

/** Returns the texts of the settings. One that is equal to the English text, as older files have it, replaces nothing. */
function replacing({ replaced }: WordsSettings, english: Partial<Texts> | undefined): Partial<Texts> {
  return Object.fromEntries(
    TEXTS.flatMap((name) => {
      const text = replaced[name];
      return text === undefined || text === english?.[name] ? [] : [[name, text] as const];
    }),
  );
}

/** Tells of texts that take more than one message, by themselves or with their last line. */
function warningsOf(languages: Map<string, Texts>, replaced: Partial<Texts>, settings: WordsSettings): string[] {
  const sizeOf = (text: string) => segmentsOf(filled(text, LONGEST_CODE, settings.codeTtlSeconds));
  const found = new Map<string, string[]>();
  const check = (what: string, language: string, text: string) => {
    if (sizeOf(text).count > 1)
      found.set(what, [...(found.get(what) ?? []), `${language} (${sizeText(sizeOf(text))})`]);
  };
  for (const name of TEXTS) check(variableOf(name), 'every language', replaced[name] ?? '');
  for (const [tag, texts] of languages) {
    for (const name of HAPPENINGS) if (replaced[name] === undefined) check(name, tag, texts[name]);
    if (sizeOf(texts.code).count > 1 || hasLastLine(texts.code)) continue;
    for (const line of allLastLines(settings)) check(`a code with the line ${line}`, tag, `${texts.code}\n${line}`);
  }
  return [...found].map(([what, where]) => `${what}: takes more than one message in ${where.join(', ')}`);
}

/** Fills in the code and its time. */
export function filled(text: string, code: string, ttlSeconds: number): string {
  const minutes = String(Math.ceil(ttlSeconds / 60));
  return text.replaceAll('{code}', code).replaceAll('{minutes}', minutes);
}

function variableOf(name: TextName): string {
  return name === 'code' ? 'SMS_TEXT' : `NOTIFY_TEXT_${name.toUpperCase()}`;
}

function sizeText({ length, most, alphabet }: Segments): string {
  return `${length} of ${most} places of ${alphabet}`;
}
