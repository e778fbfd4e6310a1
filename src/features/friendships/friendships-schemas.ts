import { z } from 'zod';
import { bytes, id } from '../../http/parse';
import type { Friend, Friendship } from './friendships-repository';
import { ACTIONS } from './invitation';

export const friend = z.object({ friendId: id });

export const invitation = z.object({ friendId: id, message: bytes(0, 64).default('') });

export const displayed = z.object({ friendId: id, displayName: bytes(0, 32) });

export const action = z.strictObject({ action: z.enum(ACTIONS) });

const user = z.strictObject({ id, nickname: z.string(), portraitUri: z.string() });

export const friendView = z.strictObject({ displayName: z.string(), user });

const friendship = friendView.extend({ message: z.string(), status: z.number(), updatedAt: z.iso.datetime() });

export const friendships = z.array(friendship);

export function viewOf({ displayName, id, nickname, portraitUri }: Friend): z.infer<typeof friendView> {
  return { displayName, user: { id, nickname, portraitUri } };
}

export function friendshipView({ message, status, updatedAt, ...friend }: Friendship): z.infer<typeof friendship> {
  return { ...viewOf(friend), message, status, updatedAt: updatedAt.toISOString() };
}
