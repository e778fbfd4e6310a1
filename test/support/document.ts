import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './service-process';

export interface Schema {
  $ref?: string;
  description?: string;
  properties?: Record<string, Schema>;
}

export interface Header {
  $ref?: string;
  required?: boolean;
}

export interface Media {
  schema: object;
  example?: unknown;
}

export interface Response {
  $ref?: string;
  headers?: Record<string, Header>;
  content?: Record<string, Media>;
}

export interface Described {
  operationId: string;
  description?: string;
  parameters?: { name: string; in: string; required: boolean; schema: { type?: string; examples: unknown[] } }[];
  requestBody?: { required: boolean; content: Record<string, Media> };
  responses: Record<string, Response>;
}

export interface Document {
  components: { schemas: Record<string, Schema> };
  paths: Record<string, Record<string, Described>>;
}

const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as Document;

/** The committed documents. Tests compare them with the current operations and commands. */
export const DOCUMENT = read('docs/openapi.json');
export const ADMIN_DOCUMENT = read('docs/admin-openapi.json');

/** Returns the part that a reference names. */
export function resolveRef<Part extends object>(document: Document, part: Part & { $ref?: string }): Part {
  const names = part.$ref?.slice('#/'.length).split('/');
  if (!names) return part;
  return names.reduce<unknown>((within, name) => (within as Record<string, unknown>)[name], document) as Part;
}
