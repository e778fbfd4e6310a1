import type { components, paths } from './document.ts';

export type Schemas = components['schemas'];

/** The answers with HTTP 200 to a POST: `{ code: 200, result }`, and those with other return codes. */
type AnswersTo<Path extends keyof paths> = paths[Path] extends {
  post: { responses: { 200: { content: { 'application/json': infer Body } } } };
}
  ? Body
  : never;

type SuccessOf<Path extends keyof paths> = Extract<AnswersTo<Path>, { code: 200 }>;

/** Every operation, as docs/api.md names it, but with its parameters in braces: `/user/sync/{version}`. */
export type OperationPath = {
  [Path in keyof paths]: [SuccessOf<Path>] extends [never] ? never : Path;
}[keyof paths];

type Post<Path extends keyof paths> = paths[Path] extends { post: infer Operation } ? Operation : never;

type ParametersOf<Path extends OperationPath> =
  Post<Path> extends { parameters: { path: infer Parameters } }
    ? { [Name in keyof Parameters]: string | number }
    : unknown;

type BodyOf<Path extends OperationPath> =
  Post<Path> extends { requestBody?: { content: { 'application/json': infer Body } } } ? Taken<Body> : unknown;

/** Lists are read alone: an app may give its own, which nobody else changes. */
type Taken<Body> = { [Name in keyof Body]: Body[Name] extends (infer Item)[] ? readonly Item[] : Body[Name] };

/** What an operation is told: the fields of its body, and the parameters of its path among them. */
export type InputOf<Path extends OperationPath> = ParametersOf<Path> & BodyOf<Path>;

export type ResultOf<Path extends OperationPath> =
  SuccessOf<Path> extends { result: infer Result } ? Result : undefined;

type HeadersOf<Response> = Response extends { headers: infer Headers } ? Headers : never;

/** Why the service may refuse it. */
export type ReasonOf<Path extends keyof paths> =
  Post<Path> extends { responses: infer Responses }
    ? { [Status in keyof Responses]: XReason<HeadersOf<Responses[Status]>> }[keyof Responses]
    : never;

type Responses = components['responses'];

/** The responses that most operations share: one for each status. */
type Shared =
  | ('BadRequest' | 'NotSignedIn' | 'CrossSite' | 'RequestTooSlow' | 'BodyTooLarge' | 'HeadersTooLarge')
  | ('Failed' | 'BadGateway' | 'Unavailable');

/** Why the service may refuse any operation, or a large part of them. */
export type SharedReason = { [Name in Shared]: XReason<HeadersOf<Responses[Name]>> }[Shared];

type XReason<Headers> = Headers extends { 'X-Reason'?: infer Reason } ? Extract<Reason, string> : never;

/** Nothing needs to be told where nothing is wanted. */
export type Told<Path extends OperationPath> =
  Record<never, never> extends InputOf<Path> ? [input?: InputOf<Path>] : [input: InputOf<Path>];
