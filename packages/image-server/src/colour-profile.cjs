// Tells which colour profiles are applied. Others could take hours: a few kilobytes can name one step a million times.

/** Profiles of cameras and screens are below 1 KiB, the longest common one (sRGB of 1998) is a little above 3 KiB. */
const MAX_BYTES = 4_096;
const MAX_TAGS = 64;
const HEADER_BYTES = 128;
const TAG_BYTES = 12;

/** Tags for three primaries with a curve each, and for remarks. Tags for tables and steps are left out. */
const TAGS = new Set([
  'rXYZ',
  'gXYZ',
  'bXYZ',
  'rTRC',
  'gTRC',
  'bTRC',
  'kTRC',
  'wtpt',
  'bkpt',
  'chad',
  'lumi',
  'desc',
  'cprt',
  'dmnd',
  'dmdd',
  'meas',
  'tech',
  'vued',
  'view',
  'vcgt',
  'cicp',
  'aarg',
  'aagg',
  'aabg',
  'ndin',
  'mmod',
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
