// Prints, when its process ends, which packages it has loaded.
const { writeSync } = require('node:fs');
const { isMainThread } = require('node:worker_threads');

process.on('exit', () => {
  if (!isMainThread) return;
  const names = Object.keys(require.cache).map(
    (path) => /.*node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(path)?.[1],
  );
  writeSync(1, `Packages: ${[...new Set(names)].filter(Boolean).sort().join(' ')}\n`);
});
