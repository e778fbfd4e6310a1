import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Linter } from 'eslint';
import { ROOT } from '../support/service-process';

/** The rules for a file. Running all of them would check the types of the whole tree each time. */
function rulesFor(file: string): Linter.RulesRecord {
  const eslint = join(ROOT, 'node_modules/eslint/bin/eslint.js');
  const shown = spawnSync(process.execPath, [eslint, '--print-config', file], { cwd: ROOT, encoding: 'utf8' });
  return (JSON.parse(shown.stdout) as { rules: Linter.RulesRecord }).rules;
}

describe('the linter', () => {
  it.each(['src/keys.ts', 'src/server.ts', 'src/features/verification/verification-code.ts'])(
    'refuses Math.random in %s',
    (file) => {
      const { 'no-restricted-properties': rule = 'off' } = rulesFor(file);
      const complaints = new Linter().verify('export const code = Math.random();', {
        rules: { 'no-restricted-properties': rule },
      });
      expect(complaints).toMatchObject([
        { severity: 2, message: expect.stringContaining("'Math.random' is restricted") as string },
      ]);
    },
  );
});
