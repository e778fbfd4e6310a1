import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { adminDocument } from '../../scripts/describe/openapi/admin-document';
import type { Package } from '../../scripts/describe/openapi/document';
import { REMOTE_COMMANDS } from '../../src/admin/admin-api';
import { pathOf } from '../../src/admin/command-body';
import { ADMIN_DOCUMENT } from '../support/document';
import { ROOT } from '../support/service-process';

const own = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Package;

describe('docs/admin-openapi.json', () => {
  it('describes the current commands (npm run openapi writes it)', () => {
    expect(ADMIN_DOCUMENT).toEqual(JSON.parse(JSON.stringify(adminDocument(own))));
  });

  it('has a path for each command that a token may run, and no other but its own', () => {
    expect(Object.keys(ADMIN_DOCUMENT.paths)).toEqual([...REMOTE_COMMANDS.map(pathOf), '/openapi.json']);
  });

  it('shows an example that changes nothing for each command', () => {
    for (const command of REMOTE_COMMANDS) {
      const { requestBody } = ADMIN_DOCUMENT.paths[pathOf(command)]?.post ?? {};
      const example = requestBody?.content['application/json']?.example;
      expect({ name: command.name, dryRun: (example as { dryRun?: boolean }).dryRun }).toEqual({
        name: command.name,
        ...(command.changes && { dryRun: true }),
      });
    }
  });
});
