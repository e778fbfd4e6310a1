// Which colour profiles the decoder is to follow. Others may take it hours: a few kilobytes can name one step a million times.

/** A camera's or a screen's has less than 1 KiB, the longest common one (sRGB of 1998) a little more than 3. */
const MAX_BYTES = 4_096;
const MAX_TAGS = 64;
const HEADER_BYTES = 128;
const TAG_BYTES = 12;

/** What describes colours by three primaries and a curve each, and remarks. Tables and steps are not among them. */
const TAGS = new Set([
  ...['rXYZ', 'gXYZ', 'bXYZ', 'rTRC', 'gTRC', 'bTRC', 'kTRC', 'wtpt', 'bkpt', 'chad', 'lumi'],
  ...['desc', 'cprt', 'dmnd', 'dmdd', 'meas', 'tech', 'vued', 'view', 'vcgt', 'cicp'],
  ...['aarg', 'aagg', 'aabg', 'ndin', 'mmod'],
]);

function isHarmless(profile) {
  if (profile.length > MAX_BYTES || profile.length < HEADER_BYTES + 4) return false;
  const count = profile.readUInt32BE(HEADER_BYTES);
  const table = profile.subarray(HEADER_BYTES + 4);
  if (count > MAX_TAGS) return false;
  const names = Array.from({ length: count }, (_, i) => table.toString('latin1', TAG_BYTES * i, TAG_BYTES * i + 4));
  return names.every((name) => TAGS.has(name));
}

module.exports = { isHarmless };
