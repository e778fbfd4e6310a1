import { z } from 'zod';
import { AppError } from '../../src/base/errors';
import { COMMON_REASONS, type Reason } from '../../src/base/reasons';
import type { Operation } from '../../src/http/operation';

class NotAsDescribed extends Error {
  override readonly name = 'NotAsDescribed';
}

/** The operation, which fails when it answers otherwise than its description says. */
export function asDescribed(operation: Operation): Operation {
  const answer = operation.answer as (input: object, call: object) => Promise<unknown>;
  return {
    ...operation,
    answer: async (input: object, call: object) => {
      const result = await answer(input, call).catch((error: unknown) => {
        throw isDescribed(operation, error) ? error : notAsDescribed(operation, 'refusal', error);
      });
      if (operation.streams) return checkedText(operation, result as AsyncGenerator<string>);
      check(operation, result);
      return result;
    },
  };
}

function isDescribed({ refusals = [] }: Operation, error: unknown): boolean {
  if (!(error instanceof AppError)) return true;
  const described: readonly Reason[] = [...COMMON_REASONS, ...refusals];
  return described.includes(error.reason);
}

function check(operation: Operation, result: unknown): void {
  const { success, error } = (operation.result ?? z.undefined()).safeParse(result);
  if (!success) throw notAsDescribed(operation, 'result', error);
}

async function* checkedText(operation: Operation, pieces: AsyncGenerator<string>): AsyncGenerator<string> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    yield piece;
  }
  check(operation, (JSON.parse(text) as { result: unknown }).result);
}

function notAsDescribed({ path }: Operation, what: string, cause: unknown): NotAsDescribed {
  const message = `${path} gives a ${what} that its description does not name: ${String(cause)}`;
  process.stderr.write(`${message}\n`);
  return new NotAsDescribed(message, { cause });
}
