import { createHash, createHmac } from 'node:crypto';
import { z } from 'zod';
import { isSameText } from '../../../base/secrets';
import { isRecent } from '../../standard-webhooks';
import { jsonOf, receiptsOf, type ReceiptReader } from '../receipts';
import type { TelegramOptions } from './sender';

const told = z.object({ request_id: z.string(), delivery_status: z.object({ status: z.string() }) });

export function receiptsOfTelegram({ token }: TelegramOptions): ReceiptReader {
  return {
    mayBeSigned: (header) => /^[0-9a-f]{64}$/.test(header('X-Request-Signature')),
    read: ({ header, body }) => {
      const seconds = header('X-Request-Timestamp');
      if (!isRecent(seconds)) return undefined;
      const key = createHash('sha256').update(token).digest();
      const right = createHmac('sha256', key).update(`${seconds}\n${body}`).digest('hex');
      if (!isSameText(header('X-Request-Signature'), right)) return undefined;
      const receipt = jsonOf(told, body);
      return receiptsOf(receipt?.request_id, receipt?.delivery_status.status);
    },
  };
}
