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
      limits: ['changesPerHour'],
      handle: (nickname, { userId }) => profile.change(userId, nickname),
    }),
    operation({
      path: '/user/set_portrait_uri',
      summary: "Changes the address of the user's portrait.",
      access: 'user',
      body: newPortrait,
      queue: 'writes',
      limits: ['changesPerHour'],
      refusals: ['portrait_host_not_allowed'],
      handle: (portrait, { userId }) => profile.change(userId, portrait),
    }),
    operation({
      path: '/user/remove_portrait',
      summary: "Removes the user's portrait.",
      access: 'user',
      queue: 'writes',
      limits: ['changesPerHour'],
      handle: (_input, { userId }) => profile.change(userId, { portraitUri: '' }),
    }),
  ];
}
