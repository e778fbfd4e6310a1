import { createServer, type AddressInfo, type Server } from 'node:net';

/** A mistake of the operator, shown as one line without a stack. */
export class StartError extends Error {}

/** Checks that the port is free before creating a database. If it is taken after that, listening fails. */
export async function askForPort({ http }: { http: Listening }): Promise<void> {
  const asking = await listen(createServer(), http);
  await new Promise((resolve) => asking.close(resolve));
}

interface Listening {
  host: string;
  port: number;
  /** Before HOST and PORT, in the names of the variables. */
  prefix?: string;
}

export function listen<T extends Server>(server: T, at: Listening): Promise<T> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, at)));
    server.listen(at.port, at.host, () => resolve(server));
  });
}

function listenError(error: NodeJS.ErrnoException, { host, port, prefix = '' }: Listening): Error {
  const [HOST, PORT] = [`${prefix}HOST`, `${prefix}PORT`];
  if (error.code === 'EADDRINUSE')
    return new StartError(`port ${port} on ${host} is taken: stop what listens there, or set ${PORT} to another one`);
  if (error.code === 'EACCES') return new StartError(`port ${port} needs more rights: set ${PORT} to 1024 or more`);
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return new StartError(
      `${host} is not an address of this machine: set ${HOST} to one of its own, or to 0.0.0.0 for all`,
    );
  return new StartError(`cannot listen on ${host}:${port}: ${error.message}: set ${HOST} and ${PORT} to others`);
}

export function addressOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
