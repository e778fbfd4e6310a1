import { randomInt } from 'node:crypto';
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

/**
 * Longest time of an answered call. It ends before Twilio stops waiting for the key, after which it would go on to the
 * code.
 */
export const CALL_SECONDS = 60;

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * Returns the TwiML that speaks a code: the line of the text that has it, twice, digit by digit. The other lines are for
 * programs that read messages. A mailbox presses no key, so it is not told the code. The key is another one each time: a
 * greeting may hold the tone of a key, or those of all keys, of which only the first one counts.
 */
export function spokenCode({ body, pressKey, code = '', language }: Message): string {
  if (pressKey === undefined) throw new Error('a call needs words that name a key');
  const line = body.split('\n').find((one) => one.includes(code) && !one.startsWith('@')) ?? code;
  const text = code === '' ? line : line.replaceAll(code, Array.from(code).join(', '));
  const voice = voiceOf(nearestLanguage(language, SPOKEN) ?? SPOKEN[0]);
  const say = (text: string) => `<Say voice="${voice.name}" language="${voice.language}">${escaped(text)}</Say>`;
  const key = String(randomInt(10));
  const asked = say(pressKey.replaceAll('{key}', key));
  // Twilio goes on after the Gather if this key is the first one that is pressed.
  const gather = `<Gather finishOnKey="${key}" timeout="${CALL_SECONDS}">${asked}<Pause length="2"/>${asked}</Gather>`;
  return `<Response>${gather}${say(text)}<Pause length="1"/>${say(text)}</Response>`;
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
