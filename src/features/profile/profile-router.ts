import { operation, type Operation } from '../../http/operation';
import { newNickname, newPortrait } from './profile-schemas';
import type { ProfileService } from './profile-service';

export function profileRouter(profile: ProfileService): Operation[] {
  return [
    operation({
      path: '/user/set_nickname',
      summary: "Changes the user's nickname.",
      access: 'user',
      body: newNickname,
      queue: 'writes',
      refusals: ['too_many_changes'],
      handle: (nickname, { userId, caller }) => profile.change(userId, nickname, caller),
    }),
    operation({
      path: '/user/set_portrait_uri',
      summary: "Changes the address of the user's portrait.",
      access: 'user',
      body: newPortrait,
      queue: 'writes',
      refusals: ['too_many_changes', 'portrait_host_not_allowed'],
      handle: (portrait, { userId, caller }) => profile.change(userId, portrait, caller),
    }),
    operation({
      path: '/user/remove_portrait',
      summary: 'Takes the portrait of the user away.',
      access: 'user',
      queue: 'writes',
      refusals: ['too_many_changes'],
      handle: (_input, { userId, caller }) => profile.change(userId, { portraitUri: '' }, caller),
    }),
  ];
}
