import { z } from 'zod';
import { bytes, described } from '../../base/schemas';
import { nickname } from '../users/profile';

export const newNickname = z.object({ nickname }).meta({ id: 'NewNickname', description: 'The new nickname.' });

const WEB_ADDRESS = 'must be an absolute http or https URL, with :// once, without user, password, quotes, < and >';
const PORTRAIT = 'https://images.example.com/k7Qw2mZr9TfB/ann.png';

export const portraitUri = described(bytes(1, 1_024).refine(isWebAddress, WEB_ADDRESS), {
  format: 'uri',
  // Without slashes: Swift's generator escapes them in a way that Swift does not accept.
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?:',
  description: 'An absolute http or https address of at most 1,024 bytes, with :// once.',
  examples: [PORTRAIT],
});

/** For a portrait that is optional: an empty one removes it. */
export const portraitUriOrNone = described(
  bytes(0, 1_024).refine((value) => value === '' || isWebAddress(value), WEB_ADDRESS),
  {
    pattern: '^([Hh][Tt][Tt][Pp][Ss]?:|$)',
    description: 'An absolute http or https address of at most 1,024 bytes, with :// once; an empty one removes it.',
    examples: [PORTRAIT],
  },
);

export const newPortrait = z
  .object({ portraitUri })
  .meta({ id: 'NewPortrait', description: 'The address of the new portrait.' });

/** Does not accept :// twice: some clients add http:// to an address that has it, which then shows nothing. */
function isWebAddress(value: string): boolean {
  const hasForm = /^https?:\/\/[^\s\\"<>]+$/i.test(value) && value.split('://').length === 2;
  return hasForm && !/^[^/]*\/\/[^/?#]*@/.test(value) && URL.canParse(value);
}
