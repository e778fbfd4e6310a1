import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';

/**
 * Leans on how Express 5 prepares a request: it sets the prototype of every request and answer to `app.request` and
 * `app.response`. V8 then gives each of these objects a hidden class of its own, which costs several times as much as
 * all else that Express does. These classes have that prototype from the beginning, so that setting it changes nothing.
 * Without them the service is slower and otherwise the same. test/unit/http-server.test.ts fails when Express no longer
 * works so.
 */
export function classesFor(app: Express) {
  class AppRequest extends IncomingMessage {}
  class AppResponse<Request extends IncomingMessage> extends ServerResponse<Request> {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  Object.assign(app, { request: AppRequest.prototype, response: AppResponse.prototype });
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}
