import { java } from './java';
import { jars } from './maven';
import type { Page } from './page';

/** Warnings that the generator always prints for a document like this one. */
const KNOWN = ['OpenAPI 3.1 support is still in beta', 'Failed to get the schema name: null'];

/** Generates the client of the page's language in the folder, from the current document. */
export async function generate(page: Page, document: string, folder: string): Promise<void> {
  const [generator = ''] = await jars('generator');
  const said = await java('-jar', generator, ...page.generatorArguments(document, folder));
  const warnings = said
    .split('\n')
    .filter((line) => /\b(WARN|ERROR)\b/.test(line) && !KNOWN.some((known) => line.includes(known)));
  if (warnings.length > 0) throw new Error(warnings.join('\n'));
}
