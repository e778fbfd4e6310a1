import { z } from 'zod';
import type { Reason } from '../base/reasons';

/** Of every answer that says that it was done. */
export const doneCode = z.literal(200).meta({ id: 'Code200', description: 'It was done.' });

/** What `ok` answers where there is no result. */
export const done = z.object({ code: doneCode }).meta({ id: 'Done', description: 'Done, without a result.' });

/** What is served beside the operations, as the document shows it. */
export interface Endpoint {
  method: 'get' | 'post';
  path: `/${string}`;
  /** In camel case, for the names of clients' functions. */
  name: string;
  /** One sentence. */
  summary: string;
  params?: z.ZodType;
  /** Of the type multipart/form-data. */
  form?: z.ZodType;
  /** What comes with 200; without a schema, bytes of this type. */
  answer: { type: string; result?: z.ZodType };
  /** When it is a 307. */
  redirect?: string;
  /** Why it refuses, beside failures of the service. */
  refusals?: readonly Reason[];
  /** Whose form its refusals have, where it is not the service's own. */
  like?: 'upload';
}
