import { z } from 'zod';
import { id } from '../../http/parse';
import { phoneFields } from '../phones/phone-fields';

export const byId = z.object({ id });

export const byPhone = phoneFields;
