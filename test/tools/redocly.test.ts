import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inOpenApi30 } from '../../src/http/openapi-3-0';
import { DOCUMENT } from '../support/document';
import { ROOT } from '../support/service-process';

describe('the document in OpenAPI 3.0', () => {
  it('is valid', () => {
    const folder = mkdtempSync(join(tmpdir(), 'openapi-3-0-'));
    try {
      const file = join(folder, 'openapi.json');
      writeFileSync(file, JSON.stringify(inOpenApi30(DOCUMENT)));
      const redocly = join(ROOT, 'node_modules/.bin/redocly');
      const options = ['lint', file, '--config', join(ROOT, 'redocly.yaml'), '--format', 'json'];
      const said = execFileSync(redocly, options, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
      expect(JSON.parse(said)).toMatchObject({ totals: { errors: 0, warnings: 0 } });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
