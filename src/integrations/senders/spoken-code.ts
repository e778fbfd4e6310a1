import { nearestLanguage } from './nearest-language';
import type { Message } from './sender';

/** Languages that Twilio speaks. */
// prettier-ignore
export const SPOKEN = [
  'en-US', 'af-ZA', 'am-ET', 'ar-AE', 'bg-BG', 'bn-IN', 'ca-ES', 'cs-CZ', 'cy-GB', 'da-DK', 'de-AT', 'de-DE', 'el-GR',
  'en-AU', 'en-GB', 'en-IE', 'en-IN', 'en-NZ', 'en-ZA', 'es-ES', 'es-MX', 'es-US', 'fi-FI', 'fil-PH', 'fr-CA', 'fr-FR',
  'fr-BE', 'gu-IN', 'he-IL', 'hi-IN', 'hu-HU', 'id-ID', 'is-IS', 'it-IT', 'ja-JP', 'kn-IN', 'ko-KR', 'lv-LV', 'ml-IN',
  'mr-IN', 'ms-MY', 'nb-NO', 'nl-BE', 'nl-NL', 'pa-IN', 'pl-PL', 'pt-BR', 'pt-PT', 'ro-RO', 'ru-RU', 'sk-SK', 'sr-RS',
  'sv-SE', 'ta-IN', 'te-IN', 'th-TH', 'tr-TR', 'uk-UA', 'vi-VN', 'zh-CN', 'zh-HK', 'zh-TW',
] as const;

type Spoken = (typeof SPOKEN)[number];

/** Voices of Amazon, and those that Google names otherwise. The first standard voice of Google speaks all other languages. */
const OTHER_VOICES: Partial<Record<Spoken, string>> = {
  'ar-AE': 'Google.ar-XA-Standard-A',
  'zh-CN': 'Google.cmn-CN-Standard-A',
  'zh-HK': 'Google.yue-HK-Standard-A',
  'zh-TW': 'Google.cmn-TW-Standard-A',
  'cy-GB': 'Polly.Gwyneth',
  'de-AT': 'Polly.Hannah-Neural',
  'en-IE': 'Polly.Niamh-Neural',
  'en-NZ': 'Polly.Aria-Neural',
  'en-ZA': 'Polly.Ayanda-Neural',
  'es-MX': 'Polly.Mia',
  'fr-BE': 'Polly.Isabelle-Neural',
};

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * Returns the TwiML that speaks a code: the line of the text that has it, twice, digit by digit. The other lines are for
 * programs that read messages.
 */
export function spokenCode({ body, code = '', language }: Message): string {
  const line = body.split('\n').find((one) => one.includes(code) && !one.startsWith('@')) ?? code;
  const text = code === '' ? line : line.replaceAll(code, Array.from(code).join(', '));
  const voice = voiceOf(nearestLanguage(language, SPOKEN) ?? SPOKEN[0]);
  const say = `<Say voice="${voice.name}" language="${voice.language}">${escaped(text)}</Say>`;
  return `<Response>${say}<Pause length="1"/>${say}</Response>`;
}

/**
 * Returns a voice, and the language in which it speaks. Twilio's default voice speaks few languages, and an account may
 * replace it: a voice that does not speak the language would be silent.
 */
export function voiceOf(spoken: Spoken): { name: string; language: string } {
  const name = OTHER_VOICES[spoken] ?? `Google.${spoken}-Standard-A`;
  return { name, language: /^Google\.(.+)-Standard-/.exec(name)?.[1] ?? spoken };
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? '');
}
