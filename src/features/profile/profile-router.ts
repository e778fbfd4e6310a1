import { operation, type Operation } from '../../http/operation';
import { newNickname, newPortrait } from './profile-schemas';
import type { ProfileService } from './profile-service';

export function profileRouter(profile: ProfileService): Operation[] {
  return [
    operation({
      path: '/set_nickname',
      summary: "Changes the user's nickname.",
      access: 'user',
      body: newNickname,
      writes: true,
      handle: (nickname, { userId }) => profile.change(userId, nickname),
    }),
    operation({
      path: '/set_portrait_uri',
      summary: "Changes the address of the user's portrait.",
      access: 'user',
      body: newPortrait,
      writes: true,
      handle: (portrait, { userId }) => profile.change(userId, portrait),
    }),
  ];
}
