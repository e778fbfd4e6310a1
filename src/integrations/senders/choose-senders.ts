import type { HttpOptions } from './http-sender';
import type { SenderName } from './kinds';
import type { Sender } from './sender';
import type { TelegramOptions } from './telegram-sender';
import type { TwilioOptions } from './twilio-sender';
import type { TwilioVerifyOptions } from './twilio-verify-sender';
import type { CallOptions } from './vendor-call';
import type { WhatsAppOptions } from './whatsapp-sender';

/** Settings of the senders that are used. */
export interface SenderSettings {
  console?: object;
  file?: { path: string };
  twilio?: TwilioOptions;
  'twilio-verify'?: TwilioVerifyOptions;
  whatsapp?: WhatsAppOptions;
  telegram?: TelegramOptions;
  http?: HttpOptions;
}

type Makers = { [Name in SenderName]: (settings: NonNullable<SenderSettings[Name]>) => Promise<Sender> };

/** Loads a vendor's code only where it is used: it is large, and slow to load. */
export async function chooseSenders(
  settings: SenderSettings,
  call: CallOptions = {},
): Promise<Map<SenderName, Sender>> {
  const makers: Makers = {
    console: async () => new (await import('./console-sender')).ConsoleSender(),
    file: async ({ path }) => new (await import('./file-sender')).FileSender(path),
    twilio: async (options) => new (await import('./twilio-sender')).TwilioSender({ ...options, ...call }),
    'twilio-verify': async (options) =>
      new (await import('./twilio-verify-sender')).TwilioVerifySender({ ...options, ...call }),
    whatsapp: async (options) => new (await import('./whatsapp-sender')).WhatsAppSender({ ...options, ...call }),
    telegram: async (options) => new (await import('./telegram-sender')).TelegramSender({ ...options, ...call }),
    http: async (options) => new (await import('./http-sender')).HttpSender({ ...options, ...call }),
  };
  const made = new Map<SenderName, Sender>();
  for (const name of Object.keys(settings) as SenderName[]) made.set(name, await make(name, makers, settings));
  return made;
}

function make<Name extends SenderName>(name: Name, makers: Makers, settings: SenderSettings): Promise<Sender> {
  const own = settings[name];
  if (own === undefined) throw new Error(`${name} has no settings`);
  return makers[name](own);
}
