import { readdirSync } from 'node:fs';
import { join } from 'node:path';

describe('migrations', () => {
  const files = readdirSync(join(__dirname, '../../migrations'));
  const named = (ending: string) =>
    files.filter((file) => file.endsWith(ending)).map((file) => file.replace(ending, ''));

  it('each have an up and a down file', () => {
    expect(named('.up.sql').length).toBeGreaterThan(0);
    expect(named('.down.sql')).toEqual(named('.up.sql'));
  });

  it('are numbered consecutively', () => {
    const numbers = named('.up.sql').map((name) => Number(name.slice(0, 4)));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });
});
