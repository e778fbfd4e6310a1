import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config/config';
import { folderMistakes } from '../../src/start/folders';

const mistakesWith = (dataDir: string) => folderMistakes(readConfig({ DATA_DIR: dataDir }).config);

describe('a folder that is yet to be made', () => {
  it('is asked for above, where nothing is left behind', () => {
    const above = mkdtempSync(join(tmpdir(), 'accounts-folders-'));
    try {
      expect(mistakesWith(join(above, 'one', 'two'))).toEqual([]);
      expect(readdirSync(above)).toEqual([]);
    } finally {
      rmSync(above, { recursive: true });
    }
  });

  // What Node makes of a recursive mkdir there does not come to an end.
  (existsSync('/proc/self') ? it : it.skip)('is refused where none can be made, even by root', () => {
    expect(mistakesWith('/proc/none/data')).toEqual([
      expect.stringMatching(/^DATA_DIR: .* \(E\w+\), where .*: .* set DATA_DIR to a folder/),
    ]);
  });
});
