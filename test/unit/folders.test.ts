import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config/config';
import { folderMistakes } from '../../src/start/folders';

const mistakesWith = (dataDir: string) => folderMistakes(readConfig({ DATA_DIR: dataDir }).config);

describe('the check of a folder that does not exist yet', () => {
  it('is made in the parent folder, and leaves nothing there', () => {
    const above = mkdtempSync(join(tmpdir(), 'accounts-folders-'));
    try {
      expect(mistakesWith(join(above, 'one', 'two'))).toEqual([]);
      expect(readdirSync(above)).toEqual([]);
    } finally {
      rmSync(above, { recursive: true });
    }
  });

  // A recursive mkdir of Node does not end there.
  (existsSync('/proc/self') ? it : it.skip)('is refused where none can be made, even by root', () => {
    expect(mistakesWith('/proc/none/data')).toEqual([
      expect.stringMatching(/^DATA_DIR: .* \(E\w+\), where .*: .* set DATA_DIR to a folder/),
    ]);
  });
});
