type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
type Part = Record<string, Json>;

/** Converts the document to OpenAPI 3.0, for client generators that do not read 3.1. */
export function inOpenApi30(document: object): object {
  const { components, info, ...rest } = document as Part;
  const { license, ...about } = info as Part;
  const { name = '' } = license as Part;
  const { schemas, ...others } = components as Part;
  return {
    ...(changed(rest) as Part),
    openapi: '3.0.3',
    info: { ...about, license: { name } },
    components: { ...(changed(others) as Part), schemas: each(schemas as Part, schemaIn30) },
  };
}

/** Converts the schemas in a part that is not a schema itself. Leaves examples as they are. */
function changed(part: Json): Json {
  if (Array.isArray(part)) return part.map(changed);
  if (typeof part !== 'object' || part === null) return part;
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => {
      if (name === 'example') return [name, value];
      return [name, name === 'schema' ? schemaIn30(value) : changed(value)];
    }),
  );
}

function schemaIn30(schema: Json): Json {
  const { $ref, const: only, examples, type, properties, items, oneOf, ...rest } = schema as Part;
  // In 3.0 a reference cannot have siblings.
  if ($ref !== undefined) return Object.keys(rest).length === 0 ? { $ref } : { ...rest, allOf: [{ $ref }] };
  const types = [type ?? []].flat();
  return {
    ...(types.length > 0 && { type: types.find((one) => one !== 'null') ?? null }),
    ...(types.includes('null') && { nullable: true }),
    ...rest,
    ...(only !== undefined && { enum: [only] }),
    ...(Array.isArray(examples) && { example: examples[0] ?? null }),
    ...(properties !== undefined && { properties: each(properties as Part, schemaIn30) }),
    ...(items !== undefined && { items: schemaIn30(items) }),
    ...(oneOf !== undefined && { oneOf: (oneOf as Json[]).map(schemaIn30) }),
  };
}

function each(parts: Part, change: (part: Json) => Json): Part {
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, change(part)]));
}
