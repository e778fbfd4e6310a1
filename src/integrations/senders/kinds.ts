/** Ways in which a phone can get a message. */
export const CHANNELS = ['sms', 'voice', 'whatsapp', 'telegram'] as const;

export type Channel = (typeof CHANNELS)[number];

export interface Kind {
  /** The first is meant where none is named. */
  channels: readonly [Channel, ...Channel[]];
  /** Takes codes only, so that notices cannot be sent by it. */
  codesOnly?: true;
  /** Does not reach phones. */
  forDevelopment?: true;
}

const kinds = <Name extends string>(all: Record<Name, Kind>) => all;

export const SENDERS = kinds({
  console: { channels: CHANNELS, forDevelopment: true },
  file: { channels: CHANNELS, forDevelopment: true },
  twilio: { channels: ['sms', 'voice'] },
  'twilio-verify': { channels: ['sms', 'voice', 'whatsapp'], codesOnly: true },
  whatsapp: { channels: ['whatsapp'], codesOnly: true },
  telegram: { channels: ['telegram'], codesOnly: true },
  http: { channels: CHANNELS },
});

export type SenderName = keyof typeof SENDERS;

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
