import type { Request } from 'express';
import { publicUrlFrom } from '../../src/http/public-url';

const asked = (host: string | undefined) => ({ protocol: 'http', get: () => host }) as unknown as Request;

describe('the address of the service, when PUBLIC_URL is unset,', () => {
  it.each(['accounts.example.com', 'localhost:8585', 'my_host:80', '127.0.0.1', '[::1]:8585'])(
    'is the one that the client used: %s',
    (host) => expect(publicUrlFrom(undefined)(asked(host))).toBe(`http://${host}`),
  );

  it.each([undefined, '', 'Q^mjf_', 'a b', 'a/b', 'a@b', '"', 'a:b', 'x'.repeat(3) + ':123456'])(
    'ignores an invalid Host: %p',
    (host) => expect(publicUrlFrom(undefined)(asked(host))).toBe('http://localhost'),
  );
});
