import type { SenderName, SenderSettings } from './kinds';
import type { ReceiptReader } from './receipts';
import type { Sender } from './sender';
import type { CallOptions } from './vendor-call';

interface Vendor<Settings> {
  sender: (settings: Settings & CallOptions) => Promise<Sender>;
  /** Reads what a vendor tells of its messages. Returns undefined if the settings let it tell nothing. */
  receipts?: (settings: Settings) => Promise<ReceiptReader | undefined>;
}

type Vendors = { [Name in SenderName]: Vendor<NonNullable<SenderSettings[Name]>> };

/** A vendor's code is loaded only where it is used: it is large, and slow to load. */
const VENDORS: Vendors = {
  console: { sender: async () => new (await import('./console/sender')).ConsoleSender() },
  file: { sender: async ({ path }) => new (await import('./file/sender')).FileSender(path) },
  twilio: {
    sender: async (options) => new (await import('./twilio/sender')).TwilioSender(options),
    receipts: async (options) => (await import('./twilio/receipts')).receiptsOfTwilio(options),
  },
  'twilio-verify': {
    sender: async (options) => new (await import('./twilio-verify/sender')).TwilioVerifySender(options),
  },
  whatsapp: {
    sender: async (options) => new (await import('./whatsapp/sender')).WhatsAppSender(options),
    receipts: async (options) => (await import('./whatsapp/receipts')).receiptsOfWhatsApp(options),
  },
  telegram: {
    sender: async (options) => new (await import('./telegram/sender')).TelegramSender(options),
    receipts: async (options) => (await import('./telegram/receipts')).receiptsOfTelegram(options),
  },
  http: {
    sender: async (options) => new (await import('./http/sender')).HttpSender(options),
    receipts: async (options) => (await import('./http/receipts')).receiptsOfHttp(options),
  },
};

/** Returns the senders that are used. */
export function chooseSenders(settings: SenderSettings, call: CallOptions = {}): Promise<Map<SenderName, Sender>> {
  return ofEach(settings, (vendor, own) => vendor.sender({ ...own, ...call }));
}

/** Returns the readers of receipts of the senders that are used, and that tell what became of messages. */
export function receiptReaders(settings: SenderSettings): Promise<Map<SenderName, ReceiptReader>> {
  return ofEach(settings, async (vendor, own) => vendor.receipts?.(own));
}

type Make<Made> = (vendor: Vendor<object>, own: object) => Promise<Made | undefined>;

async function ofEach<Made>(settings: SenderSettings, make: Make<Made>): Promise<Map<SenderName, Made>> {
  const made = new Map<SenderName, Made>();
  for (const [name, own] of Object.entries(settings) as [SenderName, object][]) {
    // The settings of a name are those of its vendor, by their types.
    const one = await make(VENDORS[name] as Vendor<object>, own);
    if (one !== undefined) made.set(name, one);
  }
  return made;
}
