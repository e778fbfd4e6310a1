// Prints, when its process ends, which packages of OpenTelemetry it has loaded.
const { writeSync } = require('node:fs');
const { isMainThread } = require('node:worker_threads');

process.on('exit', () => {
  if (!isMainThread) return;
  const names = Object.keys(require.cache).map((path) => /@opentelemetry[\\/]([\w-]+)/.exec(path)?.[1]);
  writeSync(1, `OpenTelemetry: ${[...new Set(names)].filter(Boolean).sort().join(' ')}`.trim() + '\n');
});
