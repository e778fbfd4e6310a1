import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from './generate';
import { java } from './java';
import pinned from './maven.json';
import { jars } from './maven';
import { Page } from './page';
import { withService, expectPlayedToEnd } from './stage';

const COMPILER = 'org.jetbrains.kotlin.cli.jvm.K2JVMCompiler';

/**
 * Generates the client of docs/kotlin.md from the service's own document, and runs the page's code with it against the
 * service.
 */
export async function kotlin(folder: string): Promise<void> {
  await withService(folder, async ({ url, messages, image }) => {
    const page = new Page('kotlin.md');
    const client = join(folder, 'kotlin');
    await generate(page, `${url}/openapi.json`, client);
    sameVersions(readFileSync(join(client, 'build.gradle'), 'utf8'));
    const code = join(folder, 'Page.kt');
    writeFileSync(code, page.code('kotlin'));
    const classes = await compiled([join(client, 'src/main/kotlin'), code, join(__dirname, 'Play.kt')], folder);
    expectPlayedToEnd(await java('-cp', await classPath('libraries', classes), 'PlayKt', url, folder, messages, image));
  });
}

/** Checks that the libraries are those of the generated project. */
function sameVersions(buildFile: string): void {
  const variables = new Map(
    [...buildFile.matchAll(/^\s+ext\.(\w+) = ['"](.*)['"]/gm)].map(([, name, to]) => [name, to]),
  );
  const told = buildFile.replace(/\$(\w+)/g, (_, name: string) => variables.get(name) ?? '');
  for (const artifact of Object.keys(pinned.libraries)) {
    const [group, name = '', version] = artifact.split(':');
    const [, wanted] = new RegExp(`"${group}:${name.replace(/-jvm$/, '')}:(.*)"`).exec(told) ?? [];
    if (wanted !== undefined && wanted !== version) throw new Error(`${artifact}: the generator takes ${wanted}`);
  }
}

async function compiled(sources: string[], folder: string): Promise<string> {
  const classes = join(folder, 'classes');
  const [plugin = ''] = await jars('plugin');
  const options = ['-no-stdlib', '-no-reflect', '-nowarn', `-Xplugin=${plugin}`, '-cp', await classPath('libraries')];
  await java('-cp', await classPath('compiler'), COMPILER, ...options, '-d', classes, ...sources);
  return classes;
}

async function classPath(part: 'compiler' | 'libraries', ...more: string[]): Promise<string> {
  return [...(await jars(part)), ...more].join(':');
}
