// Each guard of the service, what takes it out of the source, and the test that has to fail then. There is one file for each
// folder of tests. A guard's id is its test's file and the next number of that file; docs/security.md cites it.
import { guards as api } from './api.mjs';
import { guards as attacks } from './attacks.mjs';
import { guards as browser } from './browser.mjs';
import { guards as client } from './client.mjs';
import { guards as fuzz } from './fuzz.mjs';
import { guards as imageServer } from './image-server.mjs';
import { guards as integrations } from './integrations.mjs';
import { guards as process } from './process.mjs';
import { guards as unit } from './unit.mjs';

export const guards = [api, attacks, browser, client, fuzz, imageServer, integrations, process, unit].flatMap(
  (folder) => Object.entries(folder).map(([id, guard]) => ({ id, ...guard })),
);
