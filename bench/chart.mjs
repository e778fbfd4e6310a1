import { middle, number, rateRatio, runsOf } from './measure.mjs';

const WIDTH = 760;
const LABELS = 330;
const ROW = 34;
const TOP = 50;

export function chart({ measurements, titles }) {
  const names = [...new Set(measurements.map(({ name }) => name))];
  const measured = names.map((name) => ({ name, value: middle(runsOf(measurements, name), rateRatio) }));
  const bars = [{ name: 'floor', value: 1 }, ...measured].sort((a, b) => b.value - a.value);
  const scale = (WIDTH - LABELS - 70) / bars[0].value;
  const height = TOP + bars.length * ROW + 12;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13">`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    `<text x="16" y="28" font-size="15" font-weight="bold" fill="#222222">Reading a user with a session: requests/s, the floor being 1</text>`,
    ...bars.flatMap(({ name, value }, place) => bar(titles[name], name === 'service', value, TOP + place * ROW, scale)),
    '</svg>\n',
  ].join('\n');
}

function bar(title, isOurs, value, top, scale) {
  const width = Math.max(1, value * scale);
  return [
    `<text x="${LABELS - 10}" y="${top + 17}" text-anchor="end" fill="#222222">${title.replaceAll('&', '&amp;')}</text>`,
    `<rect x="${LABELS}" y="${top}" width="${width.toFixed(1)}" height="24" fill="${isOurs ? '#1f6feb' : '#9aa4b2'}"/>`,
    `<text x="${(LABELS + width + 8).toFixed(1)}" y="${top + 17}" fill="#222222">${number(value)}</text>`,
  ];
}
