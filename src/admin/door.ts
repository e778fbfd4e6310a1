import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { Forbidden, WrongToken } from '../base/errors';
import { tokenHash } from '../base/secrets';
import type { Limiter } from '../features/limits/limiter';
import { callerOf } from '../http/caller-of';
import type { Command, Input, Context } from './command';
import { asOperator } from './perform';
import { tokenIn } from './tokens';
import { SCOPES, type AdminToken, type AdminTokensRepository, type Scope } from './tokens-repository';

type Admitted = Pick<Context, 'operator' | 'caller'> & { scope: Scope };

/** Decides which token may run which command. */
export class AdminDoor {
  constructor(
    private readonly tokens: Pick<AdminTokensRepository, 'use'>,
    private readonly limiter: Pick<Limiter, 'take'>,
    private readonly logger: Pick<Logger, 'info'>,
  ) {}

  /**
   * Returns the token as the operator. A right token enters however many wrong ones its address has sent. The log says who
   * asked for which command, but has none of its words, which name users.
   */
  async admit(req: Request, res: Response, command: Command): Promise<Admitted> {
    const token = await this.tokenOf(req, res);
    const operator = asOperator(`token ${token.name}`, callerOf(req));
    const line = { requestId: req.id, operator: operator.operator, command: command.name };
    this.logger.info(line, 'an operator asks for a command');
    await this.limiter.take(operator.caller, { limit: 'adminCalls', subject: token.name });
    if (!includes(token.scope, command.scope))
      throw new Forbidden(
        'scope_too_low',
        `${command.name} needs the scope ${command.scope}, and this token has ${token.scope}`,
      );
    return { ...operator, scope: token.scope };
  }

  /** Refuses a phone as the name of a user to a token that only reads: it would tell whether a phone has an account. */
  checkWords({ name, takes }: Command, scope: Scope, words: Input['words']): void {
    if (includes(scope, 'support') || !takes.includes('<user>') || !words.some((word) => word?.startsWith('+'))) return;
    throw new Forbidden('scope_too_low', `${name} by a phone needs the scope support: give the id of the user`);
  }

  private async tokenOf(req: Request, res: Response): Promise<AdminToken> {
    const sent = tokenIn(req.get('Authorization'));
    // Each request asks, so that a revoked token is worth nothing from that moment on.
    const token = sent === undefined ? undefined : await this.tokens.use(tokenHash(sent));
    if (token) return token;
    const caller = callerOf(req);
    await this.limiter.take(caller, { limit: 'adminWrongTokens', subject: caller.address });
    res.set('WWW-Authenticate', 'Bearer');
    throw new WrongToken();
  }
}

function includes(held: Scope, needed: Scope): boolean {
  return SCOPES.indexOf(held) >= SCOPES.indexOf(needed);
}
