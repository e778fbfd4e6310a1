import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Router, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import { AppError, BadRequest } from '../base/errors';
import type { Outside } from '../composition/open-foundation';
import type { Services } from '../composition/services';
import type { Config } from '../config/config';
import { createApp } from '../http/app';
import { body, jsonBody, wellFormedBody } from '../http/body';
import { Deadline } from '../http/deadline';
import { errorHandler, failWith } from '../http/error-handler';
import { documentServer, openApi } from '../http/openapi-router';
import { publicUrlFrom } from '../http/public-url';
import { ok, post } from '../http/route';
import { OperatorError, type Command, type Context } from './command';
import { bodyReader, pathOf } from './command-body';
import { COMMANDS } from './commands';
import { AdminDoor } from './door';
import { perform } from './perform';
import { readsOf } from './reads';
import { SupportRepository } from './support-repository';
import { AdminTokensRepository } from './tokens-repository';

/** Path that is the same for the sources and the build. */
const FILE = join(__dirname, '../../docs/admin-openapi.json');

/** Commands that a token may run. */
export const REMOTE_COMMANDS = COMMANDS.filter(({ isLocal }) => isLocal !== true);

export interface Running {
  config: Config;
  services: Services;
  logger: Logger;
  deadlineMs?: Outside['deadlineMs'];
}

/** Builds the admin API: the commands of the command line, on the services that answer the users' requests. */
export function buildAdminApi({ config, services, logger, deadlineMs }: Running) {
  const { counting, support, supportLimits } = services.connections;
  const tokens = new AdminTokensRepository(counting);
  const context = {
    config,
    services: () => Promise.resolve(services),
    reads: readsOf(config, support),
    support: new SupportRepository(support, supportLimits),
    tokens,
  };
  const door = new AdminDoor(tokens, services.limiter, logger);
  const fail = failWith(logger);
  const onError = errorHandler(fail);
  const deadline = new Deadline(fail, deadlineMs);
  const router = Router();
  for (const command of REMOTE_COMMANDS)
    post(router, pathOf(command), deadline.watch(), ...body, wellFormedBody, answering(command, door, context));
  const document = JSON.parse(readFileSync(FILE, 'utf8')) as object;
  const serve = documentServer(router, publicUrlFrom(undefined), services.meter);
  serve(openApi.path, (url) => ({ ...document, servers: [{ url }] }));
  return {
    // TRUST_PROXY counts the proxies of the public port. Here only the connection tells the address of the caller.
    app: createApp({ routers: [{ router }], onError, logger }, { trustProxy: false, corsOrigins: [] }),
    close: () => deadline.close(),
  };
}

function answering(command: Command, door: AdminDoor, context: Omit<Context, 'operator' | 'caller'>): RequestHandler {
  const inputIn = bodyReader(command);
  return async (req, res) => {
    const { scope, ...operator } = await door.admit(req, res, command);
    const input = inputIn(jsonBody(req));
    door.checkWords(command, scope, input.words);
    ok(res, await perform(command, input, { ...context, ...operator }).catch(asRefusal));
  };
}

/** Shows what a command or one of its services refuses as one kind of refusal: it was about the words of the command. */
function asRefusal(error: unknown): never {
  const isRefusal = error instanceof AppError && error.status < 500 && error.status !== 429;
  throw error instanceof OperatorError || isRefusal ? new BadRequest('admin_mistake', error.message) : error;
}
