import { z } from 'zod';
import { bytes } from '../../http/parse';
import { nickname } from '../users/profile';

export const newNickname = z.object({ nickname });

export const portraitUri = bytes(1, 1_024).refine(isWebAddress, 'must be an absolute http or https URL, with :// once');

export const newPortrait = z.object({ portraitUri });

/** Clients that put http:// before an address that has it make one with :// twice, which shows nothing. */
function isWebAddress(value: string): boolean {
  return /^https?:\/\/[^\s\\]+$/i.test(value) && value.split('://').length === 2 && URL.canParse(value);
}
