import { Router, type Request } from 'express';
import { Forbidden } from '../../base/errors';
import { bodyUpTo } from '../../http/body';
import { methods, ok } from '../../http/route';
import type { SenderName } from '../../integrations/senders/kinds';
import type { ReceiptCall, ReceiptReader } from '../../integrations/senders/receipts';
import type { VerificationRepository } from './verification-repository';

/** WhatsApp puts many receipts into a request. */
const MAX_BYTES = 64 * 1_024;

/** Takes receipts of messages from their providers, each at an address of its own. They are signed. */
export function receiptsRouter(
  readers: Map<SenderName, ReceiptReader>,
  verification: Pick<VerificationRepository, 'setReceipt'>,
): Router {
  const router = Router();
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
        ...bodyUpTo(MAX_BYTES),
        async (req, res) => {
          const receipts = reader.read(callOf(req));
          if (!receipts) throw refusal();
          for (const receipt of receipts) await verification.setReceipt(sender, receipt);
          ok(res);
        },
      ],
    });
  return router;
}

function callOf(req: Request): ReceiptCall {
  const body: unknown = req.body;
  return { header: (name) => req.get(name) ?? '', body: Buffer.isBuffer(body) ? body.toString() : '' };
}

function refusal(): Forbidden {
  return new Forbidden('receipt_unsigned', 'the provider has not signed this receipt, or signed it long ago');
}
