import type { components, paths } from './document.ts';

export type Schemas = components['schemas'];

/** The answers with HTTP 200 to a POST: `{ code: 200, result }`, and answers with other return codes. */
type AnswersTo<Path extends keyof paths> = paths[Path] extends {
  post: { responses: { 200: { content: { 'application/json': infer Body } } } };
}
  ? Body
  : never;

type SuccessOf<Path extends keyof paths> = Extract<AnswersTo<Path>, { code: 200 }>;

/** The paths of all operations, as in docs/api.md, but with parameters in braces: `/user/sync/{version}`. */
export type OperationPath = {
  [Path in keyof paths]: [SuccessOf<Path>] extends [never] ? never : Path;
}[keyof paths];

type Post<Path extends keyof paths> = paths[Path] extends { post: infer Operation } ? Operation : never;

type ParametersOf<Path extends OperationPath> =
  Post<Path> extends { parameters: { path: infer Parameters } }
    ? { [Name in keyof Parameters]: string | number }
    : unknown;

type BodyOf<Path extends OperationPath> =
  Post<Path> extends { requestBody?: { content: { 'application/json': infer Body } } } ? ReadonlyLists<Body> : unknown;

/** A body whose lists may be readonly, since the client only reads them. */
type ReadonlyLists<Body> = { [Name in keyof Body]: Body[Name] extends (infer Item)[] ? readonly Item[] : Body[Name] };

/** The input of an operation: the fields of its body and the parameters of its path, in one object. */
export type InputOf<Path extends OperationPath> = ParametersOf<Path> & BodyOf<Path>;

export type ResultOf<Path extends OperationPath> =
  SuccessOf<Path> extends { result: infer Result } ? Result : undefined;

type HeadersOf<Response> = Response extends { headers: infer Headers } ? Headers : never;

/** The reasons for which the service may refuse an operation. */
export type ReasonOf<Path extends keyof paths> =
  Post<Path> extends { responses: infer Responses }
    ? { [Status in keyof Responses]: XReason<HeadersOf<Responses[Status]>> }[keyof Responses]
    : never;

type Responses = components['responses'];

/** The responses that most operations share: one for each status. */
type Shared =
  | ('BadRequest' | 'NotSignedIn' | 'CrossSite' | 'RequestTooSlow' | 'BodyTooLarge' | 'HeadersTooLarge')
  | ('Failed' | 'BadGateway' | 'Unavailable');

/** The reasons for which the service may refuse any operation, or most of them. */
export type SharedReason = { [Name in Shared]: XReason<HeadersOf<Responses[Name]>> }[Shared];

type XReason<Headers> = Headers extends { 'X-Reason'?: infer Reason } ? Extract<Reason, string> : never;

/** The arguments after the path: none are needed if every field is optional. */
export type CallArguments<Path extends OperationPath> =
  Record<never, never> extends InputOf<Path> ? [input?: InputOf<Path>] : [input: InputOf<Path>];
