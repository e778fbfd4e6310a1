import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OUTPUT } from './paths';
import { until } from './until';

export interface RequestLine {
  requestId: string;
  clientRequestId?: string;
  address: string;
  route: string;
}

/** Returns this run's log lines of requests that a client sent with this X-Request-Id. */
export async function requestLinesOf(clientRequestId: string): Promise<RequestLine[]> {
  let lines: RequestLine[] = [];
  // Logs are written after the answers.
  await until(() => (lines = linesWith(`"clientRequestId":"${clientRequestId}"`)).length > 0);
  return lines;
}

/** Returns the ids that the service gave these requests. */
export async function serviceRequestIds(clientRequestId: string): Promise<string[]> {
  return (await requestLinesOf(clientRequestId)).map(({ requestId }) => requestId);
}

function linesWith(fragment: string): RequestLine[] {
  return readdirSync(OUTPUT)
    .filter((name) => name.startsWith('log-'))
    .flatMap((name) => readFileSync(join(OUTPUT, name), 'utf8').split('\n').slice(0, -1))
    .filter((line) => line.includes(fragment))
    .map((line) => JSON.parse(line) as RequestLine);
}
