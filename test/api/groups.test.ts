import { startApp, type TestApp } from '../support/app';
import { expectOk, insertAndSignIn, insertPerson } from '../support/people';

describe('POST /user/groups', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());

  it('is empty for who is in no group', async () => {
    const { agent } = await insertAndSignIn(app);
    expect(await expectOk(agent.post('/user/groups'))).toEqual({ code: 200, result: [] });
  });

  it('lists id, name, portraitUri, creatorId and memberCount of the groups one is in now', async () => {
    const { agent, id } = await insertAndSignIn(app);
    const creator = await insertPerson(app);
    const gone = await insertPerson(app);
    await app.db('groups').insert([
      { id: 'g-1', name: 'One', portrait_uri: 'https://a.b/1.png', creator_id: creator.id },
      { id: 'g-2', name: 'Left', creator_id: creator.id },
      { id: 'g-3', name: 'Never joined', creator_id: creator.id },
    ]);
    const member = (group_id: string, member_id: string, is_deleted = false) => ({ group_id, member_id, is_deleted });
    await app
      .db('group_members')
      .insert([
        ...[member('g-1', id), member('g-1', creator.id), member('g-1', gone.id, true)],
        ...[member('g-2', id, true), member('g-2', creator.id), member('g-3', creator.id)],
      ]);
    expect((await expectOk(agent.post('/user/groups'))).result).toEqual([
      { id: 'g-1', name: 'One', portraitUri: 'https://a.b/1.png', creatorId: creator.id, memberCount: 2 },
    ]);
  });

  it('needs a session', async () => {
    expect((await app.api.post('/user/groups')).status).toBe(401);
  });
});
