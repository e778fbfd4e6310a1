import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Slowest pace for reading an answer: a fixed time, plus time for its size. A slow phone of today is faster. */
export interface Pace {
  patienceMs: number;
  leastBytesPerMs: number;
}

const PACE = { patienceMs: 60_000, leastBytesPerMs: 8 };
const LOOK_MS = 1_000;
/** Parts of all connections: to look at ten thousand at once would delay every request by milliseconds. */
const PARTS = 10;

interface Connection {
  socket: Socket;
  /** Bytes that the client had read when the ones that it has not read yet were written. Undefined if it has read all. */
  taken: number | undefined;
  /** Time since then. */
  waitedMs: number;
}

/**
 * Closes connections to clients that read too slowly. An answer in progress holds memory, a file, or a slot in a
 * queue.
 */
export function closeSlowReaders(server: Server, { patienceMs, leastBytesPerMs }: Pace = PACE): void {
  const connections = new Set<Connection>();
  server.on('connection', (socket) => {
    const connection: Connection = { socket, taken: undefined, waitedMs: 0 };
    connections.add(connection);
    socket.on('close', () => connections.delete(connection));
  });

  const everyMs = Math.min(LOOK_MS, patienceMs / 4);
  const look = (connection: Connection) => {
    const { socket } = connection;
    const left = socket.writableLength;
    if (left === 0) {
      connection.taken = undefined;
      connection.waitedMs = 0;
      return;
    }
    connection.taken ??= socket.bytesWritten - left;
    connection.waitedMs += everyMs;
    const written = socket.bytesWritten - connection.taken;
    if (connection.waitedMs > patienceMs + written / leastBytesPerMs) socket.destroy();
  };
  server.on('close', lookAtEach(connections, everyMs, look));
}

/** Looks at each once in this time, at some at a time. Returns a function that ends that. */
export function lookAtEach<T>(all: Set<T>, everyMs: number, look: (one: T) => void): () => void {
  let part = 0;
  let others = all.values();
  const timer = setInterval(() => {
    part = (part + 1) % PARTS;
    const isLast = part === 0;
    for (let left = isLast ? Infinity : Math.ceil(all.size / PARTS); left > 0; left -= 1) {
      const { value, done } = others.next();
      if (done) break;
      look(value);
    }
    if (isLast) others = all.values();
  }, everyMs / PARTS).unref();
  return () => clearInterval(timer);
}
