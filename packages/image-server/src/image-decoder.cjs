// The process that decodes images. Plain JavaScript loads the same way from sources, from compiled code, and in tests.
const { createReadStream, writeFileSync } = require('node:fs');
const os = require('node:os');

// Set before the threads start, since they inherit the priority: all other work of the machine goes first.
os.setPriority(1);
try {
  // When memory runs out, Linux kills this process and not the service's.
  writeFileSync('/proc/self/oom_score_adj', '1000');
} catch {
  // Other systems do not have this file, or it is read-only.
}

// Ends with the service's process. A plain exit would wait for the decoder's threads, which may hang.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// Ignored: these signals reach the whole process group, and the service first finishes the images in progress.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {});

const sharp = require('sharp');
const { isHarmless } = require('./colour-profile.cjs');

// One thread per image, without a cache. Only the readers of the four types are ever tried.
sharp.concurrency(1);
sharp.cache(false);
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadNsgif', 'VipsForeignLoadWebp'],
});

const TYPES = {
  'image/png': { animated: false, encode: (picture) => picture.png() },
  'image/jpeg': { animated: false, encode: (picture) => picture.jpeg({ quality: 85 }) },
  'image/gif': { animated: true, encode: (picture) => picture.gif({ effort: 2 }) },
  'image/webp': { animated: true, encode: (picture) => picture.webp({ quality: 85, effort: 2 }) },
};

async function rewrite({ source, target, mime, maxPixels, maxFrames }) {
  if (mime === 'image/webp' && (await framesOfWebp(source)) > maxFrames) return 'too many frames';
  const { animated, encode } = TYPES[mime];
  const options = { animated, failOn: 'error', limitInputPixels: maxPixels };
  const { icc, pages = 1 } = await sharp(source, options).metadata();
  if (pages > maxFrames) return 'too many frames';
  const picture = sharp(source, { ...options, ignoreIcc: icc !== undefined && !isHarmless(icc) });
  await encode(pages > 1 ? picture : picture.autoOrient()).toFile(target);
  return 'written';
}

/** Counts frames; the result may be too high. The decoder looks at all frames before each frame, nested ones too. */
async function framesOfWebp(path) {
  let frames = 0;
  let rest = '';
  for await (const piece of createReadStream(path, 'latin1')) {
    frames += (rest + piece).split('ANMF').length - 1;
    rest = (rest + piece).slice(-3);
  }
  return frames;
}

/** Tells the outcome by the message: the library's errors have nothing else. */
function refusalOf(message) {
  if (/no space left|quota exceeded/i.test(message)) return 'no room';
  return /pixel limit/.test(message) ? 'too many pixels' : 'unreadable';
}

process.on('message', async (task) => {
  try {
    process.send({ outcome: await rewrite(task) });
  } catch ({ message }) {
    process.send({ outcome: refusalOf(message), message });
  }
});
process.send({ outcome: 'ready' });
