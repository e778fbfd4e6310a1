import { z } from 'zod';
import { hasSignature, isSigned } from '../../standard-webhooks';
import { jsonOf, receiptsOf, type ReceiptReader } from '../receipts';
import type { HttpOptions } from './sender';

const told = z.object({ reference: z.string(), status: z.string() });

export function receiptsOfHttp({ secrets }: HttpOptions): ReceiptReader {
  return {
    mayBeSigned: hasSignature,
    read: ({ header, body }) => {
      if (!isSigned(secrets, header, body)) return undefined;
      const receipt = jsonOf(told, body);
      return receiptsOf(receipt?.reference, receipt?.status);
    },
  };
}
