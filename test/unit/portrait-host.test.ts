import { loadConfig } from '../../src/config/config';
import { checkPortraitHost } from '../../src/features/profile/portrait-host';
import { productionEnv } from '../support/production';

const inProduction = (env = {}) => loadConfig({ ...productionEnv(), ...env }).portraits;

describe('a portrait in production', () => {
  // guard portrait-host-1: a portrait in production is not in a private network
  // src/features/profile/portrait-host.ts
  // - if (publicOnly && isPrivateHost
  // + if (publicOnly && false && isPrivateHost
  it.each([
    'http://127.0.0.1/p.png',
    'http://127.1/p.png',
    'http://2130706433/',
    'http://0x7f.0.0.1/',
    'http://0177.0.0.1/',
    'http://10.0.0.1/',
    'http://172.31.255.255/',
    'https://192.168.1.1/reboot?now=1',
    'http://192.168.1.1./',
    'http://169.254.169.254/latest/',
    'http://100.64.0.1/',
    'http://0.0.0.0/',
    'http://localhost:8585/',
    'http://a.localhost/',
    'http://[::1]/',
    'http://[fe80::1]/',
    'http://[fd00::1]/',
    'http://[::ffff:10.0.0.1]/',
  ])('is not at %s', (portraitUri) => {
    expect(() => checkPortraitHost(inProduction(), portraitUri)).toThrow('loopback, private or link-local');
  });

  it.each(['https://172.32.0.1/p.png', 'https://8.8.8.8/', 'https://[2001:4860::1]/', 'https://img.example/', ''])(
    'may be at %j',
    (portraitUri) => expect(() => checkPortraitHost(inProduction(), portraitUri)).not.toThrow(),
  );

  it('may be in a private network that has the service itself, or that PORTRAIT_HOSTS names', () => {
    const address = 'https://10.1.2.3/files/p.png';
    expect(() => checkPortraitHost(inProduction({ PUBLIC_URL: 'https://10.1.2.3' }), address)).not.toThrow();
    expect(() => checkPortraitHost(inProduction({ PORTRAIT_HOSTS: '10.1.2.3' }), address)).not.toThrow();
  });

  it('may be anywhere in development', () => {
    expect(() => checkPortraitHost(loadConfig({}).portraits, 'http://127.0.0.1:8585/files/p.png')).not.toThrow();
  });
});
