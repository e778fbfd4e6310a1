import { ALWAYS, OperatorError, type Command, type Input, type Answer, type Row, type Context } from './command';

export const MESSAGING: Command[] = [
  {
    name: 'messaging copy',
    takes: '',
    what: 'tells the messaging provider of all users and groups as they are now, also of those from before it was the provider',
    scope: 'admin',
    changes: ALWAYS,
    run: copy,
  },
];

/** Only begins. The instances go on with it, beside changes. */
async function copy({ config, services, support }: Context, { options }: Input): Promise<Answer> {
  if (config.messaging.provider !== 'rongcloud')
    throw new OperatorError('MESSAGING_PROVIDER is not rongcloud: no other provider keeps copies of users and groups');
  const counts: Row = { ...(await support.copied()) };
  const { messagingCopy } = await services();
  if (!options.dryRun) await messagingCopy.begin();
  const cursor = await messagingCopy.cursor();
  return {
    [options.dryRun ? 'would tell of' : 'tells of']: [counts],
    ...(cursor && { 'under way': [{ ...cursor }] }),
  };
}
