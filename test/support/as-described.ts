import { z } from 'zod';
import { AppError } from '../../src/base/errors';
import { COMMON_REASONS, type Reason } from '../../src/base/reasons';
import { isPages, type Pages } from '../../src/http/json-stream';
import type { Operation } from '../../src/http/operation';
import { DeferredAnswer } from '../../src/http/waiting-answers';

class NotAsDescribed extends Error {
  override readonly name = 'NotAsDescribed';
}

/** Returns the operation so that it fails if its result or refusal is not in its description. */
export function asDescribed(operation: Operation): Operation {
  const answer = operation.answer as (input: object, call: object) => Promise<unknown>;
  return {
    ...operation,
    answer: async (input: object, call: object) => {
      const result = await answer(input, call).catch((error: unknown) => {
        throw isDescribed(operation, error) ? error : notAsDescribed(operation, 'refusal', error);
      });
      if (result instanceof DeferredAnswer) return result;
      if (operation.streams) return checkAtEnd(operation, result as object);
      checkResult(operation, result);
      return result;
    },
  };
}

function isDescribed({ refusals = [] }: Operation, error: unknown): boolean {
  if (!(error instanceof AppError)) return true;
  const described: readonly Reason[] = [...COMMON_REASONS, ...refusals];
  return described.includes(error.reason);
}

function checkResult(operation: Operation, result: unknown): void {
  const { success, error } = (operation.result ?? z.undefined()).safeParse(result);
  if (!success) throw notAsDescribed(operation, 'result', error);
}

/** Returns a copy of the result that is checked when the last of its lists has ended. */
function checkAtEnd(operation: Operation, result: object): object {
  if (isPages(result)) return collectRows(result, (rows) => checkResult(operation, rows));
  const whole: Record<string, unknown> = { ...result };
  const lists = Object.entries(result).filter(([, value]) => isPages(value));
  let open = lists.length;
  const collected = lists.map(([name, pages]: [string, Pages<unknown>]) => {
    const atEnd = (rows: unknown[]) => {
      whole[name] = rows;
      open -= 1;
      if (open === 0) checkResult(operation, whole);
    };
    return [name, collectRows(pages, atEnd)];
  });
  if (open === 0) checkResult(operation, whole);
  return { ...result, ...Object.fromEntries(collected) } as object;
}

async function* collectRows(pages: Pages<unknown>, atEnd: (rows: unknown[]) => void): AsyncGenerator<unknown[]> {
  const rows: unknown[] = [];
  for await (const page of pages) {
    rows.push(...page);
    yield page;
  }
  atEnd(rows);
}

function notAsDescribed({ path }: Operation, what: string, cause: unknown): NotAsDescribed {
  const message = `${path} gives a ${what} that its description does not name: ${String(cause)}`;
  process.stderr.write(`${message}\n`);
  return new NotAsDescribed(message, { cause });
}
