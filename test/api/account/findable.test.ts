import { expectBody, expectRefusal, post } from '../../support/calls';
import { profileOf, type SignedInPerson } from '../../support/people';
import { stage } from '../../support/stage';

describe('POST /user/set_findable', () => {
  const { app, ann, bob } = stage({ people: 2 });

  const find = ({ agent }: SignedInPerson, { region, phone }: SignedInPerson) =>
    post(agent, `/user/find/${region}/${phone}`);
  const setFindable = async ({ agent }: SignedInPerson, findable: boolean) =>
    expectBody(await post(agent, '/user/set_findable', { findable }), { code: 200 });
  const side = (one: SignedInPerson, other: SignedInPerson, status: number) =>
    app
      .db('friendships')
      .insert({ user_id: one.id, friend_id: other.id, status })
      .onConflict(['user_id', 'friend_id'])
      .merge(['status']);

  // guard findable-1: find hides users who do not want to be found
  // src/features/users/users-repository.ts
  // - AND (is_findable OR
  // + AND (true OR
  it('hides the user from find, like a phone without an account, until it is turned on again', async () => {
    await setFindable(ann, false);
    expect(await find(bob, ann)).toMatchObject({ status: 404, body: { code: 404, message: 'no such user' } });
    await setFindable(ann, true);
    expectBody(await find(bob, ann), { code: 200, result: profileOf(ann) });
  });

  it('does not hide users from themselves, or from those who know the id', async () => {
    await setFindable(ann, false);
    expectBody(await find(ann, ann), { code: 200, result: profileOf(ann) });
    expectBody(await post(bob.agent, `/user/${ann.id}`), { code: 200, result: profileOf(ann) });
  });

  // guard findable-2: a user who has ended a friendship is not shown to its other side by find
  // src/features/users/users-repository.ts
  // - WHERE user_id = :id AND friend_id = :finderId AND status = 20
  // + WHERE user_id = :finderId AND friend_id = :id AND status = 20
  it('does not hide the user from users whom they have as friends', async () => {
    await setFindable(ann, false);
    await side(bob, ann, 20);
    for (const status of [10, 11, 21, 30]) {
      await side(ann, bob, status);
      expectRefusal(await find(bob, ann), 404);
    }
    await side(ann, bob, 20);
    expectBody(await find(bob, ann), { code: 200, result: profileOf(ann) });
  });

  it.each([undefined, null, 'true', 1])('refuses %s, and names the field', async (findable) => {
    expectRefusal(await post(ann.agent, '/user/set_findable', { findable }), 400, 'findable');
  });

  it('needs a session', async () => {
    expectRefusal(await post(app.api, '/user/set_findable', { findable: false }), 401);
  });
});
