import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/service-process';
import pinned from './maven.json';

const CENTRAL = 'https://repo1.maven.org/maven2';
const CACHE = join(ROOT, '.cache', 'maven');

/** Returns the files of this part, each checked against its pinned hash. */
export async function jars(part: keyof typeof pinned): Promise<string[]> {
  mkdirSync(CACHE, { recursive: true });
  const files: string[] = [];
  for (const [artifact, sha256] of Object.entries<string>(pinned[part])) files.push(await jar(artifact, sha256));
  return files;
}

async function jar(artifact: string, sha256: string): Promise<string> {
  const [group = '', name = '', version = ''] = artifact.split(':');
  const file = `${name}-${version}.jar`;
  const path = join(CACHE, file);
  if (!existsSync(path)) {
    process.stdout.write(`fetching ${file}\n`);
    const answer = await fetch(`${CENTRAL}/${group.replaceAll('.', '/')}/${name}/${version}/${file}`);
    if (!answer.ok) throw new Error(`${artifact}: Maven Central answers ${answer.status}`);
    writeFileSync(`${path}.new`, Buffer.from(await answer.arrayBuffer()));
    renameSync(`${path}.new`, path);
  }
  const found = createHash('sha256').update(readFileSync(path)).digest('hex');
  if (found !== sha256) throw new Error(`${path} is not what was pinned: its SHA-256 is ${found}`);
  return path;
}
