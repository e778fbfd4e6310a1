import type { Writable } from 'node:stream';

const ROOM = 16_384;

/**
 * From now on, what is written to the stream during one turn of the event loop leaves at its end, in one write of one
 * buffer. pg writes the parts of every statement by themselves, and a write to a socket costs more than all else that
 * is done for a small statement.
 */
export function gatherWrites(stream: Writable): void {
  const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean;
  const gathered = Buffer.allocUnsafeSlow(ROOM);
  let length = 0;

  function flush(): void {
    if (length === 0) return;
    // A copy: the socket may need it for longer than this turn.
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
