import { ALWAYS, Mistake, type Command, type Given, type Parts, type Row, type Workplace } from './command';

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
async function copy({ config, services, support }: Workplace, { options }: Given): Promise<Parts> {
  if (config.messaging.provider !== 'rongcloud')
    throw new Mistake('MESSAGING_PROVIDER is not rongcloud: no other provider keeps copies of users and groups');
  const counts: Row = { ...(await support.copied()) };
  const { messagingCopy } = await services();
  if (!options.dryRun) await messagingCopy.begin();
  const cursor = await messagingCopy.cursor();
  return {
    [options.dryRun ? 'would tell of' : 'tells of']: [counts],
    ...(cursor && { 'under way': [{ ...cursor }] }),
  };
}
