import type { Request } from 'express';
import { publicUrlFrom } from '../../src/http/public-url';

const asked = (host: string | undefined) => ({ protocol: 'http', get: () => host }) as unknown as Request;

describe('the address of the service, where none is set,', () => {
  it.each(['accounts.example.com', 'localhost:8585', 'my_host:80', '127.0.0.1', '[::1]:8585'])(
    'is what the client has asked for: %s',
    (host) => expect(publicUrlFrom(undefined)(asked(host))).toBe(`http://${host}`),
  );

  it.each([undefined, '', 'Q^mjf_', 'a b', 'a/b', 'a@b', '"', 'a:b', 'x'.repeat(3) + ':123456'])(
    'has no host that is none: %p',
    (host) => expect(publicUrlFrom(undefined)(asked(host))).toBe('http://localhost'),
  );
});
