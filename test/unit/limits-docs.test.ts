import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesWithTables } from '../../scripts/tables';

describe('the page', () => {
  it.each([...filesWithTables()])('%s has the current tables (npm run tables writes them)', (file, text) => {
    expect(readFileSync(join(__dirname, '../..', file), 'utf8')).toBe(text);
  });
});
