import { lastLineFor, hasLastLine, type Client } from './last-line';
import { acceptedLanguages, lookUp } from './languages';
import { filled, readWords, type Happening, type Texts, type WordsSettings } from './words-files';

/** The language of a request, by its field and by its header. */
export interface AskedLanguage {
  field: string | undefined;
  header: string | undefined;
}

/** How a message is worded. */
export interface Wording {
  /** Tag of the language that was asked for. Empty if the service does not have it. */
  language: string;
  /** With {code} in it. */
  lastLine?: string | undefined;
}

/** Texts of messages, by language. */
export class Words {
  private readonly languages: Map<string, Texts>;

  constructor(private readonly settings: WordsSettings) {
    this.languages = readWords(settings).languages;
  }

  wordingFor(asked: AskedLanguage, client: Client): Wording {
    const wanted = [...(asked.field === undefined ? [] : [asked.field]), ...acceptedLanguages(asked.header ?? '')];
    const language = lookUp(wanted, (tag) => this.languages.has(tag)) ?? '';
    return { language, lastLine: lastLineFor(client, this.settings) };
  }

  /** Returns the text of a code, which ends with the last line unless it has one of its own. */
  code({ language, lastLine }: Wording, code: string): string {
    const { code: text } = this.textsIn(language);
    const whole = lastLine === undefined || hasLastLine(text) ? text : `${text}\n${lastLine}`;
    return filled(whole, code, this.settings.codeTtlSeconds);
  }

  /** Returns the hash of the Android app that waits for the code, if it is one. */
  appHashIn({ lastLine }: Wording): string | undefined {
    return lastLine === this.settings.androidHash ? lastLine : undefined;
  }

  notice(happening: Happening, language: string): string {
    return this.textsIn(language)[happening];
  }

  /** Returns the tag of the language in which the texts are. It may have been removed since a phone was given it. */
  tagOf(language: string): string {
    return this.languages.has(language) ? language : this.settings.defaultLanguage.toLowerCase();
  }

  private textsIn(language: string): Texts {
    const texts = this.languages.get(this.tagOf(language));
    if (texts === undefined) throw new Error(`the words of ${this.settings.defaultLanguage} are missing`);
    return texts;
  }
}
