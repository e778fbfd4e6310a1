import type { Foundation } from '../../foundation/foundation';
import { tallied } from '../../foundation/part';
import { chooseSenders } from '../../integrations/senders/choose-senders';
import { CountedSender } from '../../integrations/senders/counted-sender';
import { Inbox } from '../../integrations/senders/inbox';
import type { SenderName, SenderSettings } from '../../integrations/senders/kinds';
import type { Sender } from '../../integrations/senders/sender';
import { Routes, type RouteRules } from './routes';
import { Sending } from './sending';
import type { WaysRepository } from './ways-repository';
import { Words } from './words';
import type { WordsSettings } from './words-files';

type Needs = Foundation<{ ways: WaysRepository }>;

interface Settings {
  sms: { senders: SenderSettings; routes: RouteRules };
  words: WordsSettings;
  hasInbox: boolean;
}

const MESSAGES = {
  name: 'messages_total',
  help: 'Messages given to the provider that sends them.',
  labels: ['provider', 'outcome'],
};

/** `replacing` replaces the configured senders. */
export async function buildSending(
  { repos, observeCall: observe, vendorTimeoutMs: timeoutMs }: Needs,
  { sms, words, hasInbox }: Settings,
  replacing?: Sender,
) {
  const chosen = await chooseSenders(sms.senders, { observe, timeoutMs });
  if (replacing) for (const name of chosen.keys()) chosen.set(name, replacing);
  const counted = [...chosen].map(([name, sender]) => [name, new CountedSender(sender, name)] as const);
  const inbox = hasInbox ? new Inbox() : undefined;
  const senders = new Map<SenderName, Sender>(counted.map(([name, sender]) => [name, inbox?.of(sender) ?? sender]));
  const smsCredits = async () => {
    const found = [...chosen].map(async ([name, sender]) => {
      const credit = await sender.credit?.();
      return credit ? [{ name, ...credit }] : [];
    });
    return (await Promise.all(found)).flat();
  };
  return {
    inbox,
    smsCredits,
    words: new Words(words),
    routes: new Routes(sms.routes, (country) => repos.ways.traffic(country)),
    sending: new Sending(senders),
    part: { figures: [tallied(MESSAGES, ...counted.map(([, { counts }]) => counts))] },
  };
}
