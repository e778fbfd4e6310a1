import type { Writable } from 'node:stream';

const ROOM = 16_384;

/**
 * Gathers all writes to the stream in one turn of the event loop into a single write at its end. pg writes each part of
 * a statement separately, and one write to a socket costs more than everything else about a small statement.
 */
export function gatherWrites(stream: Writable): void {
  const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean;
  const gathered = Buffer.allocUnsafeSlow(ROOM);
  let length = 0;

  function flush(): void {
    if (length === 0) return;
    // A copy, since the socket may need it after this turn.
    const leaving = Buffer.from(gathered.subarray(0, length));
    length = 0;
    if (stream.writable) write(leaving);
  }

  stream.write = (chunk: unknown, ...rest: unknown[]): boolean => {
    if (!Buffer.isBuffer(chunk) || rest.length > 0 || chunk.length > ROOM) {
      flush();
      return write(chunk, ...rest);
    }
    if (length + chunk.length > ROOM) flush();
    if (length === 0) setImmediate(flush);
    chunk.copy(gathered, length);
    length += chunk.length;
    return true;
  };
}
