/** Adds an example to each body and each answer, made of the examples of its fields. */
export function addExamples(document: object): void {
  const schemaAt = (ref: string) =>
    ref
      .split('/')
      .slice(1)
      .reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], document) as Schema;
  const exampleOf = (schema: Schema): unknown => {
    if (schema.examples) return schema.examples[0];
    if (schema.$ref !== undefined) return exampleOf(schemaAt(schema.$ref));
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return schema.enum[0];
    const parts = schema.allOf ?? schema.oneOf?.slice(0, 1) ?? schema.anyOf?.slice(0, 1);
    if (parts) return merged(parts.map(exampleOf));
    if (schema.type === 'array') return schema.items ? [exampleOf(schema.items)] : [];
    if (schema.type === 'object')
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, field]) => [name, exampleOf(field)]),
      );
    if (schema.type === 'boolean') return true;
    if (schema.format === 'binary') return undefined;
    throw new Error(`no example in ${JSON.stringify(schema)}`);
  };
  walk(document, (media) => {
    const example = media.example ?? exampleOf(media.schema);
    if (example !== undefined) media.example = example;
  });
}

interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  const?: unknown;
  enum?: unknown[];
  examples?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
  allOf?: Schema[];
  oneOf?: Schema[];
  anyOf?: Schema[];
}

interface Media {
  schema: Schema;
  example?: unknown;
}

function merged(parts: unknown[]): unknown {
  const [first] = parts;
  return typeof first === 'object' ? Object.assign({}, ...parts) : first;
}

/** Visits each media type of each body and answer. */
function walk(part: unknown, visit: (media: Media) => void): void {
  if (typeof part !== 'object' || part === null) return;
  for (const [name, value] of Object.entries(part)) {
    if (name === 'content') Object.values(value as Record<string, Media>).forEach(visit);
    else walk(value, visit);
  }
}
