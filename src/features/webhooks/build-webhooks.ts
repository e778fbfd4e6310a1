import type { BlockList } from 'node:net';
import type { Foundation } from '../../foundation/foundation';
import { gauge, tallied, type Values } from '../../foundation/part';
import { WebhookCaller } from '../../integrations/webhook-call';
import { DELIVERIES, DELIVERY_LAG } from '../events/figures';
import { Webhooks } from './webhooks';
import type { WebhooksRepository } from './webhooks-repository';

const STATES = ['told', 'failing', 'paused'];
const WEBHOOKS = { name: 'webhooks', help: 'Webhooks that take events, fail, or are paused.', labels: ['state'] };

/** `networks`: private networks that receivers may be in. */
export function buildWebhooks(
  { repos, connections, logger, observeCall, vendorTimeoutMs }: Foundation<{ webhooks: WebhooksRepository }>,
  networks: BlockList,
) {
  const webhookList = repos.webhooks;
  const caller = new WebhookCaller(networks, observeCall, vendorTimeoutMs);
  const webhooks = new Webhooks(webhookList, connections.db, caller, logger);
  const states = async () => {
    const found = await webhookList.states();
    return STATES.map((name): Values[number] => [[name], found.find(({ state }) => state === name)?.count ?? 0]);
  };
  const lag = async (): Promise<Values> => {
    const active = (await webhookList.states()).filter(({ state }) => state !== 'paused');
    return [[['webhooks'], Math.max(0, ...active.map(({ seconds }) => seconds))]];
  };
  const figures = [tallied(DELIVERIES, webhooks.counts), gauge(DELIVERY_LAG, lag), gauge(WEBHOOKS, states)];
  return { webhooks, webhookList, part: { workers: [webhooks], figures } };
}
