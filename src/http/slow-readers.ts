import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Slowest pace for reading an answer: a fixed time, plus time for its size. A slow phone of today is faster. */
export interface Pace {
  patienceMs: number;
  leastBytesPerMs: number;
}

const PACE = { patienceMs: 60_000, leastBytesPerMs: 8 };
const LOOK_MS = 1_000;

interface Connection {
  socket: Socket;
  /** Bytes sent when the client had last read everything. */
  taken: number;
  /** Time since then. */
  waitedMs: number;
}

/**
 * Closes connections to clients that read too slowly. An answer in progress holds memory, a file, or a place in a
 * queue.
 */
export function closeSlowReaders(server: Server, { patienceMs, leastBytesPerMs }: Pace = PACE): void {
  const connections = new Set<Connection>();
  server.on('connection', (socket) => {
    const connection = { socket, taken: 0, waitedMs: 0 };
    connections.add(connection);
    socket.on('close', () => connections.delete(connection));
  });

  const everyMs = Math.min(LOOK_MS, patienceMs / 4);
  const look = (connection: Connection) => {
    const { socket, taken } = connection;
    if (socket.writableLength === 0) Object.assign(connection, { taken: socket.bytesWritten, waitedMs: 0 });
    else connection.waitedMs += everyMs;
    if (connection.waitedMs > patienceMs + (socket.bytesWritten - taken) / leastBytesPerMs) socket.destroy();
  };
  const timer = setInterval(() => connections.forEach(look), everyMs).unref();
  server.on('close', () => clearInterval(timer));
}
