import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Crowd } from '../crowd';
import type { Deployment } from '../deployment';
import { docker } from '../docker';
import { replace, scale } from '../roll';
import { ensure, type Step } from '../step';

/** Two replicas go to a build with one more migration, and a single one goes back, under load. */
export const upgrade: Step = {
  name: 'upgrade',
  async play(stage) {
    const deployment = await stage.deployment();
    await scale(deployment, 2);
    const crowd = await Crowd.gather(await stage.way());
    const names = await namesOf(deployment);
    const [earlier] = await imagesOf(deployment);

    const added = addMigration(join(deployment.tree, 'migrations'));
    await deployment.compose('build', 'service');
    const there = await crowd.runDuring(() => replace(deployment));
    const [later, ...others] = await imagesOf(deployment);
    ensure(later !== earlier && others.length === 0, 'the later build does not run everywhere');
    ensure(await hasColumn(deployment), 'the later build has not migrated');
    const now = await namesOf(deployment);
    ensure(now === names, `${names} have become ${now}, whom the proxy does not know`);

    for (const path of added) rmSync(path);
    await deployment.compose('build', 'service');
    await scale(deployment, 1);
    const back = await crowd.runDuring(() => replace(deployment));
    ensure((await imagesOf(deployment)).join() === earlier, 'the earlier build does not run everywhere');
    ensure(await hasColumn(deployment), 'the later schema is gone');
    // The image has no name now, so bringing a deployment down does not remove it.
    await docker(['image', 'rm', later ?? '']);
    return `two upgraded: ${there}. One taken back, on the later schema: ${back}`;
  },
};

function addMigration(folder: string): string[] {
  const number = Math.max(...readdirSync(folder).map((name) => Number.parseInt(name, 10) || 0)) + 1;
  const name = `${String(number).padStart(4, '0')}_next_release`;
  const sql = {
    up: 'ALTER TABLE users ADD COLUMN of_next_release text;\n',
    down: 'ALTER TABLE users DROP COLUMN of_next_release;\n',
  };
  return Object.entries(sql).map(([direction, statement]) => {
    const path = join(folder, `${name}.${direction}.sql`);
    writeFileSync(path, statement);
    return path;
  });
}

/** Returns the images that the replicas run, without duplicates. */
async function imagesOf(deployment: Deployment): Promise<string[]> {
  const containers = await deployment.containers('service');
  return [...new Set(await Promise.all(containers.map(({ id }) => deployment.inspect(id, '{{.Image}}'))))];
}

async function namesOf(deployment: Deployment): Promise<string> {
  return (await deployment.containers('service')).map(({ name }) => name).join(' and ');
}

async function hasColumn(deployment: Deployment): Promise<boolean> {
  const columns = `SELECT count(*) FROM information_schema.columns WHERE column_name = 'of_next_release'`;
  return (await deployment.sql(columns)) === '1';
}
