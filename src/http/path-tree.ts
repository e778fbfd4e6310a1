/** Parameters as they stand in the path, not decoded yet. */
interface Found<T> {
  entry: T;
  params: Record<string, string>;
}

interface Branch<T> {
  fixed: Map<string, Branch<T>>;
  parameter?: Branch<T>;
  leaf?: { entry: T; names: string[] };
}

/** Entries by path, where `:name` stands for any segment. Like Express, it ignores case and a slash at the end. */
export class PathTree<T> {
  private readonly root: Branch<T> = { fixed: new Map() };

  add(path: string, entry: T): void {
    const names: string[] = [];
    let branch = this.root;
    for (const segment of segmentsOf(path))
      if (segment.startsWith(':')) {
        names.push(segment.slice(1));
        branch = branch.parameter ??= { fixed: new Map() };
      } else {
        const next = branch.fixed.get(segment) ?? { fixed: new Map<string, Branch<T>>() };
        branch.fixed.set(segment, next);
        branch = next;
      }
    branch.leaf = { entry, names };
  }

  /** Prefers a fixed segment to a parameter. */
  find(path: string): Found<T> | undefined {
    return findIn(this.root, segmentsOf(path), []);
  }
}

function findIn<T>({ fixed, parameter, leaf }: Branch<T>, segments: string[], values: string[]): Found<T> | undefined {
  const [segment, ...rest] = segments;
  if (segment === undefined) return leaf && { entry: leaf.entry, params: named(leaf.names, values) };
  const next = fixed.get(segment.toLowerCase());
  const found = next && findIn(next, rest, values);
  if (found || !parameter || segment === '') return found;
  return findIn(parameter, rest, [...values, segment]);
}

function named(names: string[], values: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
}

function segmentsOf(path: string): string[] {
  return path.slice(1, path.endsWith('/') ? -1 : undefined).split('/');
}
