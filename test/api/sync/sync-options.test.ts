import { expectRefusal, post } from '../../support/calls';
import { expectOk } from '../../support/people';
import { stage } from '../../support/stage';

const { app, ann } = stage({ people: 1 });

const WAIT = 'wait: must be an integer from 1 to 50, in seconds';
const MOST = 'wait: must be at most 50 seconds';
const NAMES = 'names: must be true or false';

describe('POST /user/sync/:version', () => {
  // guard sync-options-1: a wait that is not from 1 to 50 is refused: an answer at once makes its client call without a pause
  // src/http/operations-router.ts
  // - ...(options && (parse(options, bodyIfAny(req)) as object)),
  // + ...(options?.safeParse(bodyIfAny(req)).data as object | undefined),
  it.each<[body: object, message: string]>([
    [{ wait: 51 }, MOST],
    [{ wait: 60 }, MOST],
    [{ wait: 1e9 }, MOST],
    [{ wait: 0 }, WAIT],
    [{ wait: -1 }, WAIT],
    [{ wait: 1.5 }, WAIT],
    [{ wait: '25' }, WAIT],
    [{ wait: null }, WAIT],
    [{ wait: true }, WAIT],
    [{ wait: [25] }, WAIT],
    [{ names: 'true' }, NAMES],
    [{ names: 1 }, NAMES],
    [{ names: null }, NAMES],
    [{ names: [true] }, NAMES],
    [{ names: 'yes', wait: 60 }, `${NAMES}; ${MOST}`],
    [{ names: true, wait: 60 }, MOST],
  ])('refuses %j, and names the field', async (body, message) => {
    expectRefusal(await post(ann.agent, '/user/sync/0', body), 400, message, 'invalid_input');
    expectRefusal(await post(app.api, '/user/sync/0', body), 401, '', 'not_signed_in');
  });

  it.each([{}, { names: false }, { names: true, wait: 1 }, { wait: 50 }, { other: 1, waits: 60 }])(
    'takes %j',
    async (body) => {
      // A full sync has the user, and so never waits.
      await expectOk(ann.agent.post('/user/sync/0').send(body));
    },
  );
});
