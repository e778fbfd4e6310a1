import { createServer } from 'node:http';
import { inspect } from 'node:util';
import {
  NumberRefused,
  SendingTimedOut,
  type Message,
  type Sender,
  type Sent,
} from '../../src/integrations/senders/sender';
import { PATIENT_MS } from './patience';

/** A message as a code is sent. */
export const MESSAGE = {
  to: '+447911123456',
  channel: 'sms',
  body: 'Your code is 482913.\n\n@example.com #482913',
  code: '482913',
  language: 'pt-BR',
} as const satisfies Message;

export type Outcome = 'refused' | 'failed' | 'unknown' | Sent;

/** Tells what became of a message, as the port means it. */
export async function outcomeOf(sender: Sender, message: Message = MESSAGE): Promise<Outcome> {
  try {
    return (await sender.send(message)) ?? {};
  } catch (error) {
    if (error instanceof NumberRefused) return 'refused';
    return error instanceof SendingTimedOut ? 'unknown' : 'failed';
  }
}

/** Returns all that can be read in the error of a message, also in its causes and hidden fields. */
export async function toldBy(sender: Sender, message: Message = MESSAGE): Promise<string> {
  return sender.send(message).then(
    () => '',
    (error: unknown) => inspect(error, { depth: 20, showHidden: true }),
  );
}

/** Returns the secrets that a text contains, of those that no error may show. */
export function secretsIn(text: string, secrets: string[]): string[] {
  return [MESSAGE.to.slice(1), MESSAGE.code, MESSAGE.body, ...secrets].filter((secret) => text.includes(secret));
}

/** Returns the time limit of an exchange with a stand-in. It is short only where the stand-in does not finish. */
export function limitWith(behaviour: unknown): { timeoutMs: number } {
  return { timeoutMs: behaviour === 'hang' || behaviour === 'trickle' ? 300 : PATIENT_MS };
}

export async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
