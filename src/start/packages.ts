import type { Config } from '../config/config';

/** Returns a line for a setting that needs a package which the published service leaves out: qiniu brings 43 others. */
export function packageMistakes({ storage }: Pick<Config, 'storage'>): string[] {
  if (storage.provider !== 'qiniu' || isInstalled('qiniu')) return [];
  return ['STORAGE_PROVIDER: qiniu needs a package that is not installed here: npm install qiniu'];
}

function isInstalled(name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}
