import { lastTold } from '../faults/told';

describe('the last that a receiver was told', () => {
  const member = (id: string, what?: string) => ({
    id,
    type: 'members.changed',
    data: { groupId: 'club', memberId: 'bob', ...(what !== undefined && { what }) },
  });
  const key = 'member club bob';

  it('is what it received last', () => {
    expect(lastTold([member('1', 'joined'), member('2', 'left')])).toEqual([[key, 'left']]);
    expect(lastTold([member('2', 'left'), member('1', 'joined')])).toEqual([[key, 'joined']]);
  });

  it('is not an event that came twice, or one that tells no state', () => {
    const received = [member('1', 'joined'), member('2', 'left'), member('1', 'joined'), member('3')];
    expect(lastTold(received)).toEqual([[key, 'left']]);
  });

  it('is kept for each entry', () => {
    const blacklist = { id: '2', type: 'blacklist.changed', data: { userId: 'ann', friendId: 'bob', what: 'added' } };
    const user = { id: '3', type: 'user.suspended', data: { userId: 'ann' } };
    const renamed = { id: '4', type: 'user.updated', data: { userId: 'ann' } };
    expect(lastTold([member('1', 'joined'), blacklist, user, renamed])).toEqual([
      [key, 'joined'],
      ['blacklist ann bob', 'added'],
      ['suspended ann', 'user.suspended'],
    ]);
  });
});
