import { z } from 'zod';
import type { Reason } from '../base/reasons';

/** Code of every successful answer. */
export const doneCode = z.literal(200).meta({ id: 'Code200', description: 'Success.' });

/** Answer of `ok` without a result. */
export const done = z.object({ code: doneCode }).meta({ id: 'Done', description: 'Success, without a result.' });

/** Endpoint outside of the operations, as the API document shows it. */
export interface Endpoint {
  method: 'get' | 'post';
  path: `/${string}`;
  /** Name in camel case, for the functions of clients. */
  name: string;
  /** One sentence. */
  summary: string;
  params?: z.ZodType;
  /** Body of type multipart/form-data. */
  form?: z.ZodType;
  /** Body of a 200; without a schema, bytes of this type. */
  answer: { type: string; result?: z.ZodType };
  /** Description of the 307. */
  redirect?: string;
  /** Reasons of refusals, besides failures of the service. */
  refusals?: readonly Reason[];
  /** Form of its refusals, if it is not the usual one of the service. */
  like?: 'upload';
}
