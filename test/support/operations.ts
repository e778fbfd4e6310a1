import { operations, type Cookies } from '../../src/composition/operations';
import type { Services } from '../../src/composition/services';
import type { Operation } from '../../src/http/operation';

/** Every operation as it is described: nothing of a service is needed for that. */
export const OPERATIONS: Operation[] = operations({} as Services, {} as Cookies, () => '').flat();

/** A path that the operation takes. */
export function pathOf({ path }: Operation): string {
  const values: Record<string, string> = { id: 'abcdefghijkl', region: '44', phone: '7911123456', version: '0' };
  return `/user${path.replace(/:(\w+)/g, (_, name: string) => values[name] ?? '')}`;
}
