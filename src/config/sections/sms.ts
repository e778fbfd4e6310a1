import { z } from 'zod';
import { oneOf, text } from '../../base/formats';
import { rows, vendorSection, type Section, type Values } from '../../base/settings';
import { isTag } from '../../features/sending/languages';
import type { WordsSettings } from '../../features/sending/words-files';
import {
  SENDER_NAMES,
  SENDERS,
  takesNotices,
  type Kind,
  type SenderName,
  type SenderSettings,
} from '../../integrations/senders/kinds';
import { routesOf, sendersIn } from '../routes';

// prettier-ignore
export const ROWS = rows({
  SMS_PROVIDER: { kind: oneOf(...SENDER_NAMES),
    says: `How messages are sent, if SMS_ROUTES does not say otherwise: ${SENDER_NAMES.join(', ')} (docs/codes.md).
      console prints them to the terminal, file writes one JSON line per message, and http gives them to an endpoint of
      yours. Default: console. Required in production, where console and file are refused.` },
  SMS_ROUTES: { kind: text,
    says: 'Path of a file with the ways of codes by country: docs/codes.md. Others have SMS_PROVIDER.' },
  DEFAULT_LANGUAGE: { kind: z.string().refine(isTag, 'must be a language, such as en or zh-Hant'), default: 'en',
    says: `Language of messages to clients that name none: a tag such as en or zh-Hant. There are words in ar, de, en,
      es, fr, id, it, pt, tr and zh (docs/codes.md).` },
  WORDS_DIR: { kind: text,
    says: 'Folder with words of your own, one file per language, such as nl.json. They replace or add languages.' },
  SMS_TEXT: { kind: z.string().includes('{code}', { error: 'must contain {code}' }),
    says: `Text of codes in every language, in place of the words. {code} and {minutes} are filled in. In double quotes
      \\n is a line break.` },
  SMS_ANDROID_HASH: {
    kind: z.string().regex(/^[A-Za-z0-9+/]{11}$/, 'must be the hash of the app, which has 11 letters, digits, + and /'),
    says: `Hash of your Android app, of 11 characters: the last line of codes for it, by which Android's SMS Retriever
      finds them` },
  NOTIFY: { kind: oneOf('off', 'sms'), default: 'off',
    says: `off or sms: notify the owner of an account by SMS of changes to it. A phone gets at most one notice an hour.`
      },
  NOTIFY_TEXT_PASSWORD_RESET: { kind: text, says: 'Texts of notices in every language, in place of the words' },
  NOTIFY_TEXT_PASSWORD_CHANGED: { kind: text },
  NOTIFY_TEXT_NEW_DEVICE: { kind: text },
  NOTIFY_TEXT_LOCKED_OUT: { kind: text },
  NOTIFY_TEXT_PHONE_CHANGED: { kind: text },
  NOTIFY_TEXT_NUMBER_CLAIMED: { kind: text },
  NOTIFY_TEXT_ACCOUNT_CLOSED: { kind: text },
});

export const SECTIONS: Section[] = [
  { title: 'SMS', rows: ROWS, ours: ['NOTIFY_TEXT'], unfit: unfitProvider },
  ...Object.entries<Kind>(SENDERS).map(([name, { settings }]) =>
    vendorSection(`With ${name} in SMS_PROVIDER or SMS_ROUTES`, settings),
  ),
];

type Env = Values<typeof ROWS>;
interface Others {
  DATA_DIR: string;
  PUBLIC_URL: string | undefined;
  CODE_TTL_SECONDS: number;
  CORS_ORIGINS: string[];
}

/** Returns the routes of messages, and the settings of the senders that they use. */
export function smsOf(env: Env & Others, isProduction: boolean, mistakes: string[]) {
  const provider = env.SMS_PROVIDER ?? 'console';
  const routes = routesOf(env.SMS_ROUTES, provider, mistakes);
  const used = sendersIn(routes);
  const ways = Object.values(routes.routes).flat(2);
  const settings = [...used].map((name) => {
    const by = name === provider ? 'SMS_PROVIDER' : 'SMS_ROUTES';
    const channels = ways.filter(({ sender }) => sender === name).map(({ channel }) => channel);
    const shared = {
      dataDir: env.DATA_DIR,
      codeTtlSeconds: env.CODE_TTL_SECONDS,
      channels,
      receiptsUrl: receiptsUrl(env, name),
    };
    const { settings }: Kind = SENDERS[name];
    return [name, settings.read(env, `${by}=${name} needs it`, mistakes, shared)];
  });
  const reachesPhones = [...used].some((name) => !SENDERS[name].forDevelopment);
  if (isProduction && env.SMS_ROUTES !== undefined && [...used].some((name) => SENDERS[name].forDevelopment))
    mistakes.push(
      'SMS_ROUTES: must not lead to console or file, also not by SMS_PROVIDER: they show every code to their readers',
    );
  for (const [key, route] of Object.entries(routes.routes))
    if (env.NOTIFY === 'sms' && !route.flat().some(takesNotices))
      mistakes.push(`NOTIFY: the route of ${key} in SMS_ROUTES has no SMS for notices: add one, or set NOTIFY to off`);
  return { senders: Object.fromEntries(settings) as SenderSettings, routes, reachesPhones };
}

/** Providers call only addresses with https. */
function receiptsUrl({ PUBLIC_URL }: Others, sender: SenderName): string | undefined {
  return PUBLIC_URL?.startsWith('https:') ? `${PUBLIC_URL}/receipts/${sender}` : undefined;
}

/** Refuses a provider that shows codes. Routes may replace one that is not set, but not one that is. */
function unfitProvider({ SMS_PROVIDER, SMS_ROUTES }: Env): string[] {
  const isUnfit = SMS_PROVIDER === undefined ? SMS_ROUTES === undefined : SENDERS[SMS_PROVIDER].forDevelopment;
  const others = SENDER_NAMES.filter((name) => !SENDERS[name].forDevelopment).join(', ');
  if (!isUnfit) return [];
  return [
    `SMS_PROVIDER: set it to one of ${others}, or name them in SMS_ROUTES, since console and file show every code to their readers`,
  ];
}

export function wordsOf(env: Env & Others): WordsSettings {
  return {
    directory: env.WORDS_DIR,
    defaultLanguage: env.DEFAULT_LANGUAGE,
    replaced: {
      code: env.SMS_TEXT,
      password_reset: env.NOTIFY_TEXT_PASSWORD_RESET,
      password_changed: env.NOTIFY_TEXT_PASSWORD_CHANGED,
      new_device: env.NOTIFY_TEXT_NEW_DEVICE,
      locked_out: env.NOTIFY_TEXT_LOCKED_OUT,
      phone_changed: env.NOTIFY_TEXT_PHONE_CHANGED,
      number_claimed: env.NOTIFY_TEXT_NUMBER_CLAIMED,
      account_closed: env.NOTIFY_TEXT_ACCOUNT_CLOSED,
    },
    codeTtlSeconds: env.CODE_TTL_SECONDS,
    androidHash: env.SMS_ANDROID_HASH,
    ownOrigin: env.PUBLIC_URL && new URL(env.PUBLIC_URL).origin,
    origins: env.CORS_ORIGINS,
  };
}
