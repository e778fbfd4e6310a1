import { randomBytes } from 'node:crypto';
import { idOf } from '../features/webhooks/webhooks';
import type { ListedWebhook } from '../features/webhooks/webhooks-repository';
import { SECRET_PREFIX } from '../integrations/standard-webhooks';
import { neverReached, NotTaken } from '../integrations/webhook-call';
import { ALWAYS, OperatorError, type Command, type Input, type Answer, type Context } from './command';

/** Commands whose answer has a secret are of the command line only. */
export const WEBHOOKS: Command[] = [
  {
    name: 'webhooks add',
    takes: '<url> [kinds]',
    what: 'tells an address of events from now on: of all kinds, or of those that are named, separated by commas',
    scope: 'admin',
    isLocal: true,
    changes: ALWAYS,
    run: add,
  },
  {
    name: 'webhooks list',
    takes: '',
    what: 'lists the webhooks: their last event, how many seconds old the next one is, and what fails',
    scope: 'read',
    run: async ({ services }) => ({
      webhooks: (await (await services()).webhookList.list()).map((one) => ({ ...one })),
    }),
  },
  {
    name: 'webhooks test',
    takes: '<webhook>',
    what: 'sends a webhook one event that means nothing, and tells whether it takes it',
    scope: 'support',
    run: test,
  },
  {
    name: 'webhooks pause',
    takes: '<webhook>',
    what: 'tells a webhook nothing until it is resumed',
    scope: 'support',
    changes: ALWAYS,
    run: changing('pause', ({ state }) => state !== 'paused'),
  },
  {
    name: 'webhooks resume',
    takes: '<webhook>',
    what: 'goes on with a paused webhook where it was',
    scope: 'support',
    changes: ALWAYS,
    run: changing('resume', ({ state }) => state === 'paused'),
  },
  {
    name: 'webhooks replay',
    takes: '<webhook> <event>',
    what: 'tells a webhook again of an event, by its id, and of all after it',
    scope: 'support',
    options: { '--only': 'only this event, such as one that was set aside' },
    changes: ALWAYS,
    run: replay,
  },
  {
    name: 'webhooks secret',
    takes: '<webhook>',
    what: 'makes a new secret for a webhook, and prints it once; the one before also signs for another day',
    scope: 'admin',
    isLocal: true,
    changes: ALWAYS,
    run: async (context, input) => {
      const { id } = await webhookIn(context, input);
      if (input.options.dryRun) return { 'would renew': [{ id }] };
      const secret = newSecret();
      await (await context.services()).webhookList.renewSecret(id, secret);
      return { renewed: [{ id, secret }] };
    },
  },
  {
    name: 'webhooks remove',
    takes: '<webhook>',
    what: 'removes a webhook',
    scope: 'admin',
    changes: ALWAYS,
    isFinal: true,
    run: changing('remove', () => true),
  },
];

async function add(
  { services, config }: Context,
  { words: [given = '', kindsGiven = ''], options }: Input,
): Promise<Answer> {
  const url = urlIn(given, config);
  const kinds = kindsIn(kindsGiven, (await services()).parts.kinds);
  if (options.dryRun) return { 'would add': [{ url, kinds: kinds.join(' ') }] };
  const webhook = { id: `wh_${randomBytes(9).toString('base64url')}`, url, kinds, secret: newSecret() };
  await (await services()).webhookList.add(webhook);
  return {
    added: [{ ...webhook, kinds: kinds.join(' ') }],
    next: ['keep the secret where only the receiver reads it: it is shown only now', `try webhooks test ${webhook.id}`],
  };
}

async function test(context: Context, input: Input): Promise<Answer> {
  const { id } = await webhookIn(context, input);
  await orOperatorError(id, (await context.services()).webhooks.test(id));
  return { taken: [{ id }] };
}

async function replay(context: Context, input: Input): Promise<Answer> {
  const webhook = await webhookIn(context, input);
  const [, event = ''] = input.words;
  const [, version = '', number = ''] = /^(\d{1,18})-(\d{1,9})-[\w-]{1,64}$/.exec(event) ?? [];
  if (version === '')
    throw new OperatorError(
      `${event}: is not the id of an event, such as ${idOf({ version: 712, number: 1, subject: 'ann' })}`,
    );
  const cursor = { version: Number(version), number: Number(number) };
  const { dryRun, only: isOnly } = input.options;
  if (!dryRun && isOnly) {
    const isKept = await orOperatorError(
      webhook.id,
      (await context.services()).webhooks.replayOne(webhook.id, cursor, event),
    );
    if (!isKept) throw new OperatorError(`${event}: this event is not kept any more`);
  } else if (!dryRun) await (await context.services()).webhookList.replay(webhook.id, cursor);
  return { [dryRun ? 'would replay' : 'replayed']: [{ id: webhook.id, [isOnly ? 'only' : 'from']: event }] };
}

async function orOperatorError<T>(id: string, sent: Promise<T>): Promise<T> {
  try {
    return await sent;
  } catch (error) {
    if (!(error instanceof NotTaken)) throw error;
    throw new OperatorError(`${id}: did not take the event: ${error.message}`);
  }
}

/** Makes a change, or tells whether there is something to change. */
function changing(verb: 'pause' | 'resume' | 'remove', isFit: (webhook: ListedWebhook) => boolean): Command['run'] {
  return async (context, input) => {
    const webhook = await webhookIn(context, input);
    const { id, url, state } = webhook;
    const isDry = input.options.dryRun === true;
    const isDone = isDry ? isFit(webhook) : await (await context.services()).webhookList[verb](id);
    if (!isDone) throw new OperatorError(`${id}: nothing was changed, it is ${state}`);
    return { [isDry ? `would ${verb}` : `${verb}d`]: [{ id, url }] };
  };
}

async function webhookIn({ services }: Context, { words: [id = ''] }: Input): Promise<ListedWebhook> {
  const found = await (await services()).webhookList.find(id);
  if (!found) throw new OperatorError(`${id}: no webhook has this id: see webhooks list`);
  return found;
}

function urlIn(given: string, { webhookNetworks }: Context['config']): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !['https:', 'http:'].includes(url.protocol)) throw new OperatorError(`${given}: is not an https address`);
  if (url.username !== '' || url.password !== '')
    throw new OperatorError(
      'the address contains a user or a password: the receiver knows this service by its signature',
    );
  const why = neverReached(url, webhookNetworks);
  if (why !== undefined) throw new OperatorError(`${given}: cannot be called: ${why}`);
  return url.href;
}

function kindsIn(given: string, known: string[]): string[] {
  const kinds = given.split(',').filter(Boolean);
  const unknown = kinds.find((kind) => !known.includes(kind));
  if (unknown !== undefined)
    throw new OperatorError(`${unknown}: is not a kind of events: take some of ${known.join(', ')}`);
  return kinds;
}

function newSecret(): string {
  return SECRET_PREFIX + randomBytes(32).toString('base64');
}
