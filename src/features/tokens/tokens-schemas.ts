import { z } from 'zod';
import { id } from '../../http/parse';

export const messagingToken = z.strictObject({ id, token: z.string() });

export const imageToken = z.strictObject({ target: z.string(), domain: z.string(), token: z.string() });
