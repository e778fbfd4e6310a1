import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesWithTables } from '../../scripts/tables';

describe('the page', () => {
  it.each([...filesWithTables()])('%s has the limits and queues as they are: npm run tables', (file, text) => {
    expect(readFileSync(join(__dirname, '../..', file), 'utf8')).toBe(text);
  });
});
