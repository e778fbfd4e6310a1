import { z } from 'zod';
import { schemaOf } from '../../src/base/settings';
import { ROWS } from '../../src/config/variables';
import { printedSections } from './env-example';

/** Returns the JSON schema of the variables, in an environment of the compose file and in the data of a ConfigMap. */
export function settingsSchema(): string {
  const { properties = {} } = z.toJSONSchema(schemaOf(ROWS, false), { io: 'input', unrepresentable: 'any' });
  const settings = printedSections().flatMap(({ rows }) =>
    rows.flatMap(({ names, says, rows }) => {
      const description = says.replaceAll('`', '');
      return names.flatMap((name, index) => {
        const one = [name, { description, ...orOther(properties[name]) }] as const;
        const file = { type: 'string', description: `Path of a file that contains ${name}.` };
        return rows[index]?.secret ? [one, [`${name}_FILE`, file] as const] : [one];
      });
    }),
  );
  const there = { $ref: '#/definitions/settings' };
  const container = { properties: { environment: there } };
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Settings of the account service',
    properties: { services: { properties: { service: container, images: container } }, data: there },
    definitions: { settings: { properties: {} } },
  };
  const lines = settings.map(([name, one]) => `${JSON.stringify(name)}: ${JSON.stringify(one)}`);
  return JSON.stringify(schema, null, 2).replace(/{}/, () => `{\n${lines.join(',\n')}\n      }`) + '\n';
}

/** Allows an empty value, a variable of the compose file, whose value is not known, and numbers, as YAML reads 8585. */
function orOther(schema: z.core.JSONSchema._JSONSchema | undefined) {
  const { default: given, ...form } = typeof schema === 'object' ? schema : {};
  // zod names checks of its own there too.
  if (form.format !== 'uri') delete form.format;
  const isText = form.type === 'string' && !form.enum && !form.format;
  const other = { type: ['string', 'null'], pattern: '^$|\\$\\{' };
  return { default: given, anyOf: [{ ...form, ...(isText && { type: ['string', 'number'] }) }, other] };
}
