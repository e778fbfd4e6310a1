import { z } from 'zod';
import { operations, type Cookies } from '../../src/composition/operations';
import type { Services } from '../../src/composition/services';
import type { Operation } from '../../src/http/operation';

/** All operations. Their descriptions need no service. */
export const RESOURCES = operations({} as Services, {} as Cookies, () => '');

export const OPERATIONS: Operation[] = Object.values(RESOURCES).flat();

/** Returns a path that the operation accepts. */
export function pathOf({ path }: { path: string }): string {
  const values: Record<string, string> = {
    id: 'abcdefghijkl',
    friendId: 'abcdefghijkl',
    region: '44',
    phone: '7911123456',
    version: '0',
  };
  return path.replace(/:(\w+)/g, (_, name: string) => values[name] ?? '');
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
