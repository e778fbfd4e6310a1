import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { isSameText } from '../../../base/secrets';
import { jsonOf, receiptsOf, type ReceiptReader } from '../receipts';
import type { WhatsAppOptions } from './sender';

const told = z.object({
  entry: z.array(
    z.object({
      changes: z.array(
        z.object({
          value: z.object({ statuses: z.array(z.object({ id: z.string(), status: z.string() })).optional() }),
        }),
      ),
    }),
  ),
});

export function receiptsOfWhatsApp({ appSecret, verifyToken }: WhatsAppOptions): ReceiptReader | undefined {
  if (appSecret === undefined) return undefined;
  return {
    mayBeSigned: (header) => /^sha256=[0-9a-f]{64}$/.test(header('X-Hub-Signature-256')),
    read: ({ header, body }) => {
      const right = `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`;
      if (!isSameText(header('X-Hub-Signature-256'), right)) return undefined;
      const changes = jsonOf(told, body)?.entry.flatMap((entry) => entry.changes) ?? [];
      const statuses = changes.flatMap(({ value }) => value.statuses ?? []);
      return statuses.flatMap(({ id, status }) => receiptsOf(id, status));
    },
    greet: ({ 'hub.mode': mode, 'hub.verify_token': token, 'hub.challenge': challenge }) => {
      const isRight = typeof token === 'string' && isSameText(token, verifyToken ?? '');
      return mode === 'subscribe' && isRight && typeof challenge === 'string' ? challenge : undefined;
    },
  };
}
