import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';

/**
 * Depends on how Express 5 prepares a request: it sets the prototype of every request and answer to `app.request` and
 * `app.response`. V8 then gives each of these objects its own hidden class, which costs several times as much as the
 * rest of Express. These classes have that prototype from the beginning, so that setting it changes nothing. Without
 * them the service works the same, but slower. test/unit/http-server.test.ts fails when Express changes this.
 */
export function classesFor(app: Express) {
  class AppRequest extends IncomingMessage {}
  class AppResponse<Request extends IncomingMessage> extends ServerResponse<Request> {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  Object.assign(app, { request: AppRequest.prototype, response: AppResponse.prototype });
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}
