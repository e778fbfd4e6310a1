import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import Ajv, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { ADMIN_DOCUMENT, DOCUMENT, resolveRef, type Document, type Header, type Response } from './document';

/** Longer bodies are compared only with their operation's own schema: see as-described.ts. */
const LONGEST = 1_048_576;

/** Reasons for invalid HTTP, and for a fixed word in place of an id. */
const REASONS_WITHOUT_OPERATION = ['malformed_http', 'no_such_path'];

/** The last status in the document. OpenAPI has no place for a higher one. */
const LAST_STATUS = 599;

interface Sent {
  method: string;
  path: string;
  status: number;
  headers: OutgoingHttpHeaders;
  body: Buffer;
}

/** Returns the schema without additional properties: a field that the document does not name is a mistake in a test. */
function withoutOtherFields(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withoutOtherFields);
  if (typeof part !== 'object' || part === null) return part;
  const all = Object.fromEntries(Object.entries(part).map(([name, value]) => [name, withoutOtherFields(value)]));
  return 'properties' in part ? { additionalProperties: false, ...all } : all;
}

/**
 * Compares each answer of a server with its document. Returns a list of differences, which are also printed at once.
 */
export function asDocumented(server: Server, documented: Documented): string[] {
  const complaints: string[] = [];
  server.prependListener('request', (req: IncomingMessage, res: ServerResponse) => {
    const chunks = recordBody(res);
    res.once('finish', () => {
      const { method = '', url = '' } = req;
      const [path = ''] = url.split(/[?#]/);
      const sent = { method, path, status: res.statusCode, headers: headersSent(res), body: Buffer.concat(chunks()) };
      const wrong = documented.complaintOf(sent);
      if (wrong === undefined) return;
      const complaint = `${method} ${path} answers what ${documented.file} does not know: ${wrong}`;
      process.stderr.write(`${complaint}\n`);
      complaints.push(complaint);
    });
  });
  return complaints;
}

/** Returns the headers as Node wrote them: getHeaders() lacks those that writeHead() was given. */
function headersSent(res: ServerResponse): OutgoingHttpHeaders {
  const { _header: head } = res as ServerResponse & { _header: string };
  const lines = head.split('\r\n').slice(1).filter(Boolean);
  return Object.fromEntries(
    lines.map((line) => line.split(/: (.*)/)).map(([name = '', value]) => [name.toLowerCase(), value]),
  );
}

/** Records what is written to the answer, up to a limit. */
function recordBody(res: ServerResponse): () => Buffer[] {
  let chunks: Buffer[] = [];
  let length = 0;
  const keep = (chunk: unknown) => {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    const bytes = Buffer.from(chunk as string);
    length += bytes.length;
    if (length > LONGEST) chunks = [];
    else chunks.push(bytes);
  };
  for (const name of ['write', 'end'] as const) {
    const send = res[name].bind(res) as (...args: unknown[]) => never;
    res[name] = (...args: unknown[]) => {
      keep(args[0]);
      return send(...args);
    };
  }
  return () => (length > LONGEST ? [] : chunks);
}

/** Answers that a document describes. */
class Documented {
  private readonly document: Document;
  private readonly paths: { path: string; pattern: RegExp }[];
  private readonly ajv = new Ajv({
    strict: false,
    validateSchema: false,
    validateFormats: true,
    formats: { binary: true, password: true },
  });

  constructor(
    readonly file: string,
    whole: Document,
  ) {
    this.document = withoutOtherFields(whole) as Document;
    addFormats(this.ajv);
    this.ajv.addSchema(this.document, 'openapi');
    this.paths = Object.keys(this.document.paths)
      .sort((a, b) => a.split('{').length - b.split('{').length)
      .map((path) => ({
        path,
        pattern: new RegExp(`^${path.replace(/\./g, '\\.').replace(/\{\w+\}/g, '[^/]+')}/?$`, 'i'),
      }));
  }

  complaintOf({ method, path, status, headers, body }: Sent): string | undefined {
    const found = this.paths.find(({ pattern }) => pattern.test(path));
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
    const operation = found && this.document.paths[found.path]?.[verb];
    // An unknown method, or the protocol of resumable uploads.
    if (!operation || REASONS_WITHOUT_OPERATION.includes(String(headers['x-reason']))) return undefined;
    const place = status > LAST_STATUS ? 'default' : String(status);
    const given = operation.responses[place];
    if (!given) return `status ${status}`;
    const response = resolveRef<Response>(this.document, given);
    const missing = this.missingHeader(response, headers);
    if (missing !== undefined) return `status ${status} without ${missing}`;
    if (!response.content || method === 'HEAD') return undefined;
    const [sent = ''] = String(headers['content-type']).split(';');
    const type = Object.keys(response.content).find((one) => one === sent || one === sent.replace(/\/.*/, '/*'));
    if (type === undefined) return `status ${status} of the type ${sent}`;
    if (type !== 'application/json' || body.length === 0) return undefined;
    const where = given.$ref?.slice('#/'.length) ?? `paths/${escaped(found.path)}/${verb}/responses/${place}`;
    const validate = this.validatorAt(`${where}/content/${escaped(type)}/schema`);
    const text = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    return validate(JSON.parse(text.toString()))
      ? undefined
      : `status ${status}, ${this.ajv.errorsText(validate.errors)}`;
  }

  private missingHeader({ headers = {} }: Response, sent: OutgoingHttpHeaders): string | undefined {
    return Object.entries(headers)
      .filter(([, header]) => resolveRef<Header>(this.document, header).required)
      .map(([name]) => name)
      .find((name) => sent[name.toLowerCase()] === undefined);
  }

  /** Compiles the schema when the first answer of its kind arrives. */
  private validatorAt(where: string): ValidateFunction {
    const validate = this.ajv.getSchema(`openapi#/${encodeURI(where)}`);
    if (!validate) throw new Error(`${this.file} has no ${where}`);
    return validate;
  }
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Answers of the public port, and of the admin API. */
export const PUBLIC = new Documented('docs/openapi.json', DOCUMENT);
export const ADMIN = new Documented('docs/admin-openapi.json', ADMIN_DOCUMENT);
