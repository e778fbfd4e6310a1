import { Router, type Request, type RequestHandler } from 'express';
import { z } from 'zod';
import { Forbidden } from '../../base/errors';
import { bytes } from '../../base/schemas';
import { bodyUpTo } from '../../http/body';
import { callerOf } from '../../http/caller-of';
import { parse } from '../../http/parse';
import { methods, ok } from '../../http/route';
import type { SenderName } from '../../integrations/senders/kinds';
import type { ReceiptCall, ReceiptReader } from '../../integrations/senders/receipts';
import type { Limiter } from '../limits/limiter';
import type { VerificationRepository } from './verification-repository';

/** WhatsApp puts many receipts into a request. */
const MAX_BYTES = 64 * 1_024;

const noted = z.object({ reference: bytes(1, MAX_BYTES) });

/**
 * Takes receipts of messages from their providers, each at an address of its own. They are signed. Forged ones count for
 * their address, and do not keep right ones of that address out: checking a signature takes a tenth of a millisecond.
 */
export function receiptsRouter(
  readers: Map<SenderName, ReceiptReader>,
  verification: Pick<VerificationRepository, 'setReceipt'>,
  limiter: Pick<Limiter, 'take'>,
): Router {
  const router = Router();
  const forgedBy = (req: Request) => ({ limit: 'forgedReceipts', subject: callerOf(req).address }) as const;
  const admit =
    (reader: ReceiptReader): RequestHandler =>
    (req, _res, next) => {
      if (!reader.mayBeSigned(headerOf(req))) throw refusal();
      next();
    };
  for (const [sender, reader] of readers)
    methods(router, `/receipts/${sender}`, {
      ...(reader.greet && {
        get: [
          (req, res) => {
            const greeting = reader.greet?.(req.query);
            if (greeting === undefined) throw refusal();
            res.type('text/plain').send(greeting);
          },
        ],
      }),
      post: [
        admit(reader),
        ...bodyUpTo(reader.maxBytes ?? MAX_BYTES),
        async (req, res) => {
          const receipts = reader.read(callOf(req));
          if (!receipts) {
            await limiter.take(callerOf(req), forgedBy(req));
            throw refusal();
          }
          for (const { reference } of receipts) parse(noted, { reference });
          for (const receipt of receipts) await verification.setReceipt(sender, receipt);
          ok(res);
        },
      ],
    });
  return router;
}

function callOf(req: Request): ReceiptCall {
  const body: unknown = req.body;
  return { header: headerOf(req), body: Buffer.isBuffer(body) ? body.toString() : '' };
}

function headerOf(req: Request): ReceiptCall['header'] {
  return (name) => req.get(name) ?? '';
}

function refusal(): Forbidden {
  return new Forbidden('receipt_unsigned', 'the provider has not signed this receipt, or signed it long ago');
}
