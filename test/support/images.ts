/** The smallest whole PNG: one pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export const pngOf = (bytes: number): Buffer => Buffer.concat([PNG, Buffer.alloc(bytes - PNG.length, 7)]);

export type Part = [name: string, value: string | Buffer];

/** A form in the order given; a Buffer is a file. Written by hand, so that no library tidies up what is hostile. */
export function form(parts: Part[]): { headers: Record<string, string>; body: Buffer } {
  const boundary = '----a-boundary';
  const chunks = parts.flatMap(([name, value]) => {
    const file = typeof value === 'string' ? '' : '; filename="portrait.png"\r\nContent-Type: image/png';
    const header = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`;
    return [Buffer.from(header), Buffer.from(value), Buffer.from('\r\n')];
  });
  return {
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
  };
}
