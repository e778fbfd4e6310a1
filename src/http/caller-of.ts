import type { Request } from 'express';
import type { Caller } from '../base/caller';
import { addressOf } from '../base/networks';

const USER_AGENT_LENGTH = 200;

export function callerOf(req: Request): Caller {
  return {
    address: addressOf(req.sentFrom),
    ip: req.sentFrom,
    userAgent: (req.get('User-Agent') ?? '').slice(0, USER_AGENT_LENGTH),
    requestId: req.id,
  };
}
