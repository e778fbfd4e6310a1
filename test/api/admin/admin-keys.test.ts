import { isSigningKey } from '../../../src/integrations/messaging/signing-key';
import { COMMANDS } from '../../../src/admin/commands';
import { command, linesOf, rowsOf } from '../../support/operator';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';

const { app } = stage();

describe('keys rotate', () => {
  it('makes new values that the settings accept, and tells the steps in the words of this installation', async () => {
    const told = await command(app, 'keys rotate', [], {}, { SESSION_MAX_DAYS: '60' });
    const [session, signing] = rowsOf(told, 'new values').map(({ value }) => rememberSecret(String(value)));
    expect(session).toMatch(/^[0-9a-f]{64}$/);
    expect(isSigningKey(signing ?? '')).toBe(true);
    expect(linesOf(told, 'steps for SESSION_SECRETS')).toContain('after 60 days');
    expect(linesOf(told, 'steps for SESSION_SECRETS')).toContain(`the content of ${app.dataDir}/session-secret`);
  });

  it('shows no present secret, stores none, and leaves no trace in the audit trail', async () => {
    const SESSION_SECRETS = rememberSecret('0f7a1c9be3d54f6a8b2c4d6e8f0a1b3c');
    const told = JSON.stringify(await command(app, 'keys rotate', [], {}, { SESSION_SECRETS }));
    expect(told).not.toContain(SESSION_SECRETS);
    expect(told).toContain('the value of SESSION_SECRETS');
    expect(await app.db('security_events').where({ event: 'operator' })).toEqual([]);
  });

  it('is for terminals only, as what makes tokens and inserts people', () => {
    const local = COMMANDS.filter(({ isLocal }) => isLocal).map(({ name }) => name);
    expect(local).toEqual([
      'webhooks add',
      'webhooks secret',
      'keys rotate',
      'demo',
      'tokens add',
      'tokens list',
      'tokens revoke',
    ]);
  });
});
