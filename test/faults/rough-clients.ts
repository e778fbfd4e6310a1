import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Five a second from one machine once caused a third of all other requests to be refused. */
const MALFORMED_PAUSE_MS = 200;
const SLOW = 50;

const HEAD = 'POST /user/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
const MALFORMED_CHUNK = `${HEAD}Transfer-Encoding: chunked\r\n\r\nZ\r\n`;
/** A body with one byte of its thousand. */
const SLOW_BODY = `${HEAD}Content-Length: 1000\r\n\r\n{`;

/** Clients that keep sending malformed chunks, and clients that hold back their bodies. */
export class RoughClients {
  private readonly sockets = new Set<Socket>();
  private isRunning = true;
  private readonly going: Promise<void>;
  malformed = 0;

  constructor(private readonly connect: () => Socket) {
    for (let count = 0; count < SLOW; count += 1) this.send(SLOW_BODY);
    this.going = this.sendMalformed();
  }

  async stop(): Promise<void> {
    this.isRunning = false;
    await this.going;
    for (const socket of this.sockets) socket.destroy();
  }

  private async sendMalformed(): Promise<void> {
    while (this.isRunning) {
      this.send(MALFORMED_CHUNK);
      this.malformed += 1;
      await sleep(MALFORMED_PAUSE_MS);
    }
  }

  private send(bytes: string): void {
    const socket = this.connect();
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    // The proxy may reset it.
    socket.on('error', () => undefined);
    socket.resume();
    socket.write(bytes);
  }
}
