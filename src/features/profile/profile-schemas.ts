import { z } from 'zod';
import { bytes, described } from '../../base/schemas';
import { nickname } from '../users/profile';

export const newNickname = z.object({ nickname }).meta({ id: 'NewNickname', description: 'The new nickname.' });

const WEB_ADDRESS = 'must be an absolute http or https URL, with :// once, without user, password, quotes, < and >';
const PORTRAIT = 'https://images.example.com/k7Qw2mZr9TfB/ann.png';

export const portraitUri = described(bytes(1, 1_024).refine(isWebAddress, WEB_ADDRESS), {
  format: 'uri',
  // Without its slashes, which Swift's generator escapes as Swift does not know it.
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?:',
  description: 'An absolute http or https address of at most 1,024 bytes, with :// once.',
  examples: [PORTRAIT],
});

/** Of what can be without: empty takes it away. */
export const portraitUriOrNone = described(
  bytes(0, 1_024).refine((value) => value === '' || isWebAddress(value), WEB_ADDRESS),
  {
    pattern: '^([Hh][Tt][Tt][Pp][Ss]?:|$)',
    description: 'An absolute http or https address of at most 1,024 bytes, with :// once; empty takes it away.',
    examples: [PORTRAIT],
  },
);

export const newPortrait = z
  .object({ portraitUri })
  .meta({ id: 'NewPortrait', description: 'The address of the new portrait.' });

/** Clients that put http:// before an address that has it make one with :// twice, which shows nothing. */
function isWebAddress(value: string): boolean {
  const hasForm = /^https?:\/\/[^\s\\"<>]+$/i.test(value) && value.split('://').length === 2;
  return hasForm && !/^[^/]*\/\/[^/?#]*@/.test(value) && URL.canParse(value);
}
