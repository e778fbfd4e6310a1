import type { CallObserver } from '../calls';
import type { SmsSender } from './sms-sender';
import type { TwilioOptions } from './twilio-sms-sender';

export type SmsSettings =
  { provider: 'console' } | { provider: 'file'; path: string } | ({ provider: 'twilio' } & TwilioOptions);

/** Loads a vendor's code only where it is used: it is large, and slow to load. */
export async function chooseSmsSender(settings: SmsSettings, observe?: CallObserver): Promise<SmsSender> {
  switch (settings.provider) {
    case 'twilio': {
      const { TwilioSmsSender } = await import('./twilio-sms-sender');
      return new TwilioSmsSender({ ...settings, observe });
    }
    case 'file': {
      const { FileSmsSender } = await import('./file-sms-sender');
      return new FileSmsSender(settings.path);
    }
    case 'console': {
      const { ConsoleSmsSender } = await import('./console-sms-sender');
      return new ConsoleSmsSender();
    }
  }
}
