import type { Vendor } from '../../base/settings';
import { CONSOLE } from './console/settings';
import { FILE } from './file/settings';
import { HTTP } from './http/settings';
import { TELEGRAM } from './telegram/settings';
import { TWILIO } from './twilio/settings';
import { TWILIO_VERIFY } from './twilio-verify/settings';
import { WHATSAPP } from './whatsapp/settings';

/** Ways in which a phone can get a message. */
export const CHANNELS = ['sms', 'voice', 'whatsapp', 'telegram'] as const;

export type Channel = (typeof CHANNELS)[number];

/** Facts about a message's way that a vendor's settings may need. */
export interface Shared {
  dataDir: string;
  codeTtlSeconds: number;
  /** Channels that lead to the vendor. */
  channels: Channel[];
  /** Where the vendor tells what became of a message. */
  receiptsUrl: string | undefined;
}

export interface Kind<Settings = object> {
  settings: Vendor<Settings, Shared>;
  /** The first is meant where none is named. */
  channels: readonly [Channel, ...Channel[]];
  /** Takes codes only, so that notices cannot be sent by it. */
  codesOnly?: true;
  /** Does not reach phones. */
  forDevelopment?: true;
}

const kinds = <All extends Record<string, object>>(all: { [Name in keyof All]: Kind<All[Name]> }) => all;

export const SENDERS = kinds({
  console: { settings: CONSOLE, channels: CHANNELS, forDevelopment: true },
  file: { settings: FILE, channels: CHANNELS, forDevelopment: true },
  twilio: { settings: TWILIO, channels: ['sms', 'voice'] },
  'twilio-verify': { settings: TWILIO_VERIFY, channels: ['sms', 'voice', 'whatsapp'], codesOnly: true },
  whatsapp: { settings: WHATSAPP, channels: ['whatsapp'], codesOnly: true },
  telegram: { settings: TELEGRAM, channels: ['telegram'], codesOnly: true },
  http: { settings: HTTP, channels: CHANNELS },
});

export type SenderName = keyof typeof SENDERS;

/** Settings of the senders that are used. */
export type SenderSettings = {
  [Name in SenderName]?: (typeof SENDERS)[Name] extends Kind<infer Settings> ? Settings : never;
};

export const SENDER_NAMES = Object.keys(SENDERS) as [SenderName, ...SenderName[]];

/** A sender and one of its channels. */
export interface Way {
  sender: SenderName;
  channel: Channel;
}

/** Whether a notice can go by a way: an SMS with any text, which its owner did not ask for. */
export function takesNotices({ sender, channel }: Way): boolean {
  return channel === 'sms' && SENDERS[sender].codesOnly !== true;
}

/** Returns how a way is written in settings, counters and the database: twilio voice, or only telegram. */
export function nameOf({ sender, channel }: Way): string {
  return (sender as string) === channel ? sender : `${sender} ${channel}`;
}

/** Reads a way. Without a channel it is the first of the sender. */
export function wayOf(name: string): Way | undefined {
  const [sender = '', given, ...more] = name.split(' ');
  if (!isSender(sender) || more.length > 0) return undefined;
  const { channels } = SENDERS[sender];
  const channel = given === undefined ? channels[0] : channels.find((one) => one === given);
  return channel && { sender, channel };
}

function isSender(name: string): name is SenderName {
  return Object.hasOwn(SENDERS, name);
}
