import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesWithTables } from '../../scripts/describe/tables';

describe('the page', () => {
  // guard limits-docs-1: the documentation has each limit
  // docs/limits.md
  // - | find | a user | 2,000 | a day | too_many_lookups |
  // guard limits-docs-2: the documentation has each queue
  // docs/limits.md
  // - | exports | user | | 1 | 0 | | 429 too_many_at_once |
  // + | exports | user | | 2 | 0 | | 429 too_many_at_once |
  // guard limits-docs-3: the documentation has each command of operators
  // docs/admin.md
  // - | [`limits top`](#limits-top) | shows the limits that are used up now, the most used first | | `support` |
  // guard limits-docs-4: .env.example has the default of each variable
  // .env.example
  // - EVENT_DAYS=7
  // + EVENT_DAYS=8
  it('has the current tables, as have all others (npm run tables writes them)', async () => {
    for (const [file, text] of await filesWithTables())
      expect(readFileSync(join(__dirname, '../..', file), 'utf8')).toBe(text);
  });
});
