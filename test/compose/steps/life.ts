import { randomInt } from 'node:crypto';
import { field } from '../../faults/person';
import { multipartForm, PNG } from '../../support/images';
import { ensure, resultOf, type Step } from '../step';

/** A client's life, from an unknown phone to the end of a session. */
export const life: Step = {
  name: 'life',
  async play(stage) {
    const { calls, inbox } = await stage.way();
    const address = { region: 44, phone: 7_500_000_000 + randomInt(50_000_000) };
    const password = 'opensesame';
    let cookie: string | undefined;
    const post = async (operation: string, body?: object, code?: number) => {
      const answer = await calls.post(`/user/${operation}`, { ...(body && { body }), cookie });
      if (operation === 'login') ({ cookie } = answer);
      return resultOf(answer, operation, code);
    };

    await post('send_code', address);
    const code = await inbox.codeFor(`+44${address.phone}`);
    ensure(code !== undefined, 'no code has arrived');
    const verified = await post('verify_code', { ...address, code });
    const verification_token = field(verified, 'verification_token');
    const id = field(await post('register', { nickname: 'Ann', password, verification_token }), 'id');
    await post('login', { ...address, password });
    ensure(cookie?.startsWith('__Host-sid=') === true, `the cookie of the session is ${cookie}`);

    await post('set_nickname', { nickname: 'Ann Onymous' });
    const image = await post('get_image_token');
    const upload = multipartForm([
      ['token', String(field(image, 'token'))],
      ['file', PNG],
    ]);
    const { status, body } = await calls.post('/', upload);
    ensure(status === 200, `the upload was answered with ${status}`);
    const { key } = JSON.parse(body.toString()) as { key: string };
    const portraitUri = `${String(field(image, 'domain'))}/${key}`;
    await post('set_portrait_uri', { portraitUri });

    const profile = await post(String(id));
    ensure(field(profile, 'nickname') === 'Ann Onymous', 'the nickname was not changed');
    const synchronised = field(await post('sync/0'), 'user');
    ensure(field(synchronised, 'portraitUri') === portraitUri, 'sync has another portrait');
    const { pathname } = new URL(portraitUri);
    const shown = await calls.call(pathname, 'files', { method: 'GET' });
    ensure(shown.status === 200, `the portrait was answered with ${shown.status}`);

    await post('logout');
    await post('groups', undefined, 401);
    return `account ${String(id)}: code, registration, login, portrait, sync, logout`;
  },
};
