import { mistakeInAddress, publicAddress } from '../../src/database/database-url';

describe('the displayed address of a database', () => {
  it.each([
    ['postgresql://a:hunter2@db.example/accounts', 'db.example:5432/accounts'],
    ['postgresql://a:hun%40ter2@db.example:5433/accounts?sslmode=no-verify', 'db.example:5433/accounts'],
    ['postgresql://a:hun@ter2@db.example/accounts', 'db.example:5432/accounts'],
    ['postgresql://a@db.example/accounts?password=hunter2', 'db.example:5432/accounts'],
    ['postgresql://hunter2@db.example/accounts', 'db.example:5432/accounts'],
    ['postgresql:///accounts?host=/run/postgresql&password=hunter2', '/run/postgresql (a socket), database accounts'],
    ['postgresql://a:hunter2@%2Frun%2Fpostgresql/accounts', '/run/postgresql (a socket), database accounts'],
    ['postgresql://a:hunter2@one.example/accounts?host=other.example', 'other.example:5432/accounts'],
  ])('is %s without user and password', (address, shown) => {
    expect(mistakeInAddress(address)).toBeUndefined();
    expect(publicAddress(address)).toBe(shown);
  });

  // guard database-address-1: an address whose password would be shown as its path is a mistake
  // src/database/database-url.ts
  // - if (hash !== '' || /@/.test(pathname + search)) return UNESCAPED;
  it.each([
    'postgresql://a:1/hunter2@db.example/accounts',
    'postgresql://a:1#hunter2@db.example/accounts',
    'postgresql://a:1?hunter2@db.example/accounts',
    'postgresql://a:1?x=1&hunter2@db.example/accounts',
    'postgresql://a@db.example/accounts#hunter2',
    'postgresql://a:hunter2%C3@db.example/accounts',
  ])('reports a mistake where the address is probably not what its author meant: %s', (address) => {
    expect(mistakeInAddress(address)).toMatch(/^has a character in its password/);
    expect(mistakeInAddress(address)).not.toContain('hunter2');
  });
});
