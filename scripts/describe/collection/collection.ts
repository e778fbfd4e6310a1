/** The parts of docs/openapi.json that are read. */
export interface Document {
  info: { title: string; description: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  parameters?: { name: string; schema: { examples: unknown[] } }[];
  requestBody?: { content: Record<string, { schema: Schema; example: Record<string, unknown> }> };
}

interface Schema {
  $ref?: string;
  required?: string[];
  properties?: Record<string, { format?: string }>;
}

/** A collection of the form 2.1, as far as this one goes. */
export interface Collection {
  info: { name: string; description: string; schema: string };
  item: Folder[];
  variable: { key: string; value: string }[];
}

export interface Folder {
  name: string;
  description?: string;
  item: Item[];
}

export interface Item {
  name: string;
  request: {
    method: string;
    description: string;
    header: { key: string; value: string }[];
    url: { raw: string; host: string[]; path: string[]; variable?: { key: string; value: string }[] };
    body?: { mode: 'raw'; raw: string } | { mode: 'formdata'; formdata: FormField[] };
  };
  event?: { listen: 'test'; script: { type: string; exec: string[] } }[];
}

interface FormField {
  key: string;
  type: 'text' | 'file';
  value?: string;
  src?: string;
  disabled?: boolean;
}

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** The variable that a request sends in a field or path parameter of this name. */
const SENT: Record<string, string> = {
  region: 'region',
  phone: 'phone',
  code: 'code',
  verification_token: 'verification_token',
  nickname: 'nickname',
  password: 'password',
  oldPassword: 'password',
  version: 'version',
};

const VARIABLES: Record<string, string> = {
  region: '44',
  phone: '7911123458',
  code: '',
  verification_token: '',
  nickname: 'Ann',
  password: 'opensesame',
  version: '0',
  image_token: '',
};

/** Fields of results that are kept, each with its variable. */
const KEPT: Record<string, [variable: string, field: string]> = {
  userVerifyCode: ['verification_token', 'verification_token'],
  userSyncByVersion: ['version', 'version'],
  userGetImageToken: ['image_token', 'token'],
};

const FIRST_MINUTES = 'userSendCode userVerifyCode userRegister userLogin userSyncByVersion userLogout'.split(' ');

const FIRST = `
From a phone to a synchronised client, one request after another. After the first put the code of the SMS into the
variable \`code\`; everything else is kept from answer to answer. Each further sync tells what has changed since the last.
`;

/** All operations, by their tags, behind those of the first minutes. */
export function collectionOf(document: Document): Collection {
  const { title, description } = document.info;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const tags = [...new Set(operations.flatMap(({ operation }) => operation.tags))];
  const first = FIRST_MINUTES.flatMap((id) => operations.filter(({ operation }) => operation.operationId === id));
  const ofTag = (tag: string) => operations.filter(({ operation }) => operation.tags.includes(tag));
  return {
    info: { name: title, description, schema: SCHEMA },
    item: [
      {
        name: 'The first minutes',
        description: FIRST.trim().replace(/\n/g, ' '),
        item: first.map((one) => itemOf(one, document, 'required')),
      },
      ...tags.map((tag) => ({ name: tag, item: ofTag(tag).map((one) => itemOf(one, document, 'all')) })),
    ],
    variable: Object.entries({ base_url: document.servers[0]?.url ?? '', ...VARIABLES }).map(asPair),
  };
}

interface Call {
  path: string;
  method: string;
  operation: Operation;
}

function itemOf({ path, method, operation }: Call, document: Document, fields: 'required' | 'all'): Item {
  const { summary, parameters = [], requestBody } = operation;
  const examples = new Map(parameters.map(({ name, schema }) => [name, String(schema.examples[0])]));
  const segments = path
    .slice(1)
    .split('/')
    .map((segment) => segmentOf(segment, examples));
  const variables = [...examples].filter(([name]) => segments.includes(`:${name}`));
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const schema = schemaOf(document, media?.schema ?? {});
  const { required = [] } = schema;
  const sent = Object.entries(media?.example ?? {}).filter(([name]) => fields === 'all' || required.includes(name));
  const isForm = type === 'multipart/form-data';
  return {
    name: path,
    request: {
      method: method.toUpperCase(),
      description: summary,
      header: type === undefined || isForm ? [] : [{ key: 'Content-Type', value: type }],
      url: {
        raw: `{{base_url}}/${segments.join('/')}`,
        host: ['{{base_url}}'],
        path: segments,
        ...(variables.length > 0 && {
          variable: variables.map(([name, value]) => asPair([name, valueOf(name, value)])),
        }),
      },
      ...(isForm && { body: { mode: 'formdata' as const, formdata: formOf(schema) } }),
      ...(type !== undefined && !isForm && { body: { mode: 'raw' as const, raw: bodyOf(sent) } }),
    },
    ...eventsOf(operation),
  };
}

/** A variable is a whole segment in a collection. */
function segmentOf(segment: string, examples: Map<string, string>): string {
  if (/^\{\w+\}$/.test(segment)) return `:${segment.slice(1, -1)}`;
  return segment.replace(/\{(\w+)\}/g, (_, name: string) => examples.get(name) ?? '');
}

function schemaOf(document: Document, schema: Schema): Schema {
  return document.components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;
}

function valueOf(name: string, example: unknown): string {
  const variable = SENT[name];
  return variable === undefined ? String(example) : `{{${variable}}}`;
}

const asPair = ([key, value]: [string, string]) => ({ key, value });

/** A string in every case, as the service takes digits too. */
function bodyOf(sent: [string, unknown][]): string {
  const body = sent.map(([name, example]) => [name, name in SENT ? valueOf(name, example) : example]);
  return JSON.stringify(Object.fromEntries(body), null, 2);
}

/** Only what must be there is sent, until it is ticked. */
function formOf({ properties = {}, required = [] }: Schema): FormField[] {
  return Object.entries(properties).map(([key, { format }]) => ({
    key,
    ...(format === 'binary'
      ? { type: 'file', src: '' }
      : { type: 'text', value: key === 'token' ? '{{image_token}}' : '' }),
    ...(!required.includes(key) && { disabled: true }),
  }));
}

function eventsOf({ operationId }: Operation): Pick<Item, 'event'> {
  const kept = KEPT[operationId];
  if (!kept) return {};
  const [variable, field] = kept;
  const exec = [
    'const answer = pm.response.json();',
    `if (answer.code === 200) pm.collectionVariables.set('${variable}', String(answer.result.${field}));`,
  ];
  return { event: [{ listen: 'test', script: { type: 'text/javascript', exec } }] };
}
