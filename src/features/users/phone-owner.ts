import type { Knex } from 'knex';
import type { Read, Reads } from '../../database/reads';

/**
 * Whose a phone is. What is looked up by phone is two statements, this and one by the user's id, so that phones and users
 * may one day live on different nodes.
 */
export function phoneOwner(reads: Reads, db: Knex): Read<{ userId: string }, 'phone'> {
  return reads.prepare('phone-owner', db('phones').where({ phone: ':phone' }).select('user_id as userId'));
}
