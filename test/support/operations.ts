import { z } from 'zod';
import { BadRequest } from '../../src/base/errors';
import { operations, type Cookies } from '../../src/composition/operations';
import type { Services } from '../../src/composition/services';
import type { Operation } from '../../src/http/operation';
import { parse } from '../../src/http/parse';

/** All operations. Their descriptions need no service. */
export const RESOURCES = operations({} as Services, {} as Cookies, () => '');

export const OPERATIONS: Operation[] = Object.values(RESOURCES).flat();

/** A valid value for each parameter of a path. */
const PARAMS: Record<string, string> = {
  id: 'abcdefghijkl',
  friendId: 'abcdefghijkl',
  region: '44',
  phone: '7911123456',
  version: '0',
};

/** Returns a path that the operation accepts. */
export function pathOf({ path }: { path: string }): string {
  return path.replace(/:(\w+)/g, (_, name: string) => PARAMS[name] ?? '');
}

/** Returns how the operation refuses a body, without a request. */
export function refusalOfBody({ body }: Pick<Operation, 'body'>, fields: object): BadRequest | undefined {
  return body && refusalOf(body, JSON.parse(JSON.stringify(fields)));
}

/** Returns how the operation refuses values in its path, without a request. */
export function refusalOfParams({ params }: Pick<Operation, 'params'>, values: object): BadRequest | undefined {
  return params && refusalOf(params, { ...PARAMS, ...values });
}

function refusalOf(schema: z.ZodType, input: unknown): BadRequest | undefined {
  try {
    parse(schema, input);
    return undefined;
  } catch (error) {
    if (error instanceof BadRequest) return error;
    throw error;
  }
}

/** Returns the names of the fields of an object, or of the objects in an array. */
export function fieldsOf(schema: z.ZodType | undefined, io: 'input' | 'output'): string[] {
  if (!schema) return [];
  // Without names of schemas, which would replace their fields.
  const json = z.toJSONSchema(schema, { io, unrepresentable: 'any', metadata: z.registry() });
  const [object] = [json.items ?? json] as z.core.JSONSchema.JSONSchema[];
  return [object, ...(object?.allOf ?? [])].flatMap((part) =>
    typeof part === 'object' ? Object.keys(part.properties ?? {}) : [],
  );
}
