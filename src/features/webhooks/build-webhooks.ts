import type { BlockList } from 'node:net';
import type { Foundation } from '../../foundation/foundation';
import { gauge, tallied, type Values } from '../../foundation/part';
import { WebhookCaller } from '../../integrations/webhook-call';
import { TOLD, UNTOLD } from '../events/figures';
import { Webhooks } from './webhooks';
import type { WebhooksRepository } from './webhooks-repository';

const STATES = ['told', 'failing', 'paused'];
const WEBHOOKS = { name: 'webhooks', help: 'Webhooks that are told, fail, or are paused.', labels: ['state'] };

/** `networks`: private networks that receivers may be in. */
export function buildWebhooks(
  { repos, connections, logger, observeCall, vendorTimeoutMs }: Foundation<{ webhooks: WebhooksRepository }>,
  networks: BlockList,
) {
  const webhookList = repos.webhooks;
  const caller = new WebhookCaller(networks, observeCall, vendorTimeoutMs);
  const webhooks = new Webhooks(webhookList, connections.db, caller, logger);
  const states = async () => {
    const found = await webhookList.standing();
    return STATES.map((name): Values[number] => [[name], found.find(({ state }) => state === name)?.count ?? 0]);
  };
  const untold = async (): Promise<Values> => {
    const told = (await webhookList.standing()).filter(({ state }) => state !== 'paused');
    return [[['webhooks'], Math.max(0, ...told.map(({ seconds }) => seconds))]];
  };
  const figures = [tallied(TOLD, webhooks.counts), gauge(UNTOLD, untold), gauge(WEBHOOKS, states)];
  return { webhooks, webhookList, part: { workers: [webhooks], figures } };
}
