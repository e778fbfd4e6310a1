import { loadConfig } from '../../src/config/config';
import { warningsOf } from '../../src/start/warnings';

const warningsWith = (env: Record<string, string>) => warningsOf(loadConfig(env));

describe('a setting that is valid, but probably not meant so', () => {
  it('is none of the defaults', () => {
    expect(warningsWith({ ADMIN_PORT: '9465' })).toEqual([]);
  });

  it.each(['0.0.0.0', '::'])('is an admin API that every network reaches: %s', (ADMIN_HOST) => {
    expect(warningsWith({ ADMIN_PORT: '9465', ADMIN_HOST })).toEqual([
      expect.stringMatching(/^ADMIN_HOST: .* takes tokens over plain HTTP from every network/),
    ]);
    expect(warningsWith({ ADMIN_HOST })).toEqual([]);
  });

  it('is an audit trail that its owner may not permit to be so short', () => {
    expect(warningsWith({ AUDIT_DAYS: '7' })).toEqual([
      expect.stringMatching(/^AUDIT_DAYS: 7 .*UPDATE security_events_kept SET days = 7 /),
    ]);
    expect(warningsWith({ AUDIT_DAYS: '30' })).toEqual([]);
  });
});
