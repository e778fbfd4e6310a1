// Shared by the small servers here: their settings, where they listen and, for the floors, how they answer.
import { Buffer } from 'node:buffer';
import { createServer } from 'node:http';
import pg from 'pg';

export const { DATABASE_URL, SESSION_SECRET, SMS_FILE, PORT } = process.env;

export const HOST = '127.0.0.1';

/** It exits by itself on SIGTERM, so that Node writes the profile that it may have been asked for. */
process.once('SIGTERM', () => process.exit());

export const listen = (handler) => void createServer(handler).listen(PORT, HOST);

export const newPool = () => new pg.Pool({ connectionString: DATABASE_URL, max: 10 });

/** Returns a client at once; queries wait until it has connected. */
export function newPipelinedClient() {
  const client = new pg.Client({ connectionString: DATABASE_URL, pipeline: true });
  client.connect();
  return client;
}

/** Sends the value that `answer` returns as JSON. A code that is an HTTP status becomes the status of the answer. */
export function listenJson(answer) {
  listen(async (req, res) => {
    const value = await answer(req).catch(() => ({ code: 500 }));
    const body = JSON.stringify(value);
    res.writeHead(value.code < 1_000 ? value.code : 200, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
    });
    res.end(body);
  });
}
