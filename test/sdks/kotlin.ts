import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { picture } from '../support/images';
import { OUTPUT } from '../support/paths';
import { newDataDir, ServiceProcess } from '../support/service-process';
import { generate } from './generate';
import { java } from './java';
import pinned from './maven.json';
import { jars } from './maven';
import { Page } from './page';

const COMPILER = 'org.jetbrains.kotlin.cli.jvm.K2JVMCompiler';

/** The client that docs/kotlin.md makes of what the service says of itself, with the page's code, against the service. */
export async function kotlin(folder: string): Promise<void> {
  mkdirSync(OUTPUT, { recursive: true });
  const data = newDataDir();
  const service = ServiceProcess.start({ DATA_DIR: data.path, SMS_PROVIDER: 'file' });
  try {
    await service.ready();
    const page = new Page('kotlin.md');
    const client = join(folder, 'kotlin');
    await generate(page, `${service.url}/openapi.json`, client);
    sameVersions(readFileSync(join(client, 'build.gradle'), 'utf8'));
    const code = join(folder, 'Page.kt');
    writeFileSync(code, page.code('kotlin'));
    const classes = await compiled([join(client, 'src/main/kotlin'), code, join(__dirname, 'Play.kt')], folder);
    const image = join(folder, 'portrait.png');
    writeFileSync(image, await picture('png'));
    const path = await classPath('libraries', classes);
    const said = await java('-cp', path, 'PlayKt', service.url, folder, join(data.path, 'sms.ndjson'), image);
    if (!said.includes('played to its end')) throw new Error(said);
  } finally {
    await service.stop();
    data.remove();
  }
}

/** The libraries are those that the generated project names. */
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
