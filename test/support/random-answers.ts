import type { Choices } from './choices';
import type { SyncMember, SyncResult } from './folding-client';

export interface Sizes {
  friends: number;
  groups: number;
  members: number;
}

const upTo = (choices: Choices, count: number) =>
  Array.from({ length: choices.numberBelow(count + 1) }, () => undefined);

/** Returns an answer that may follow any other: with new rows, known rows, and ended rows. */
export function randomAnswer(choices: Choices, version: number, sizes: Sizes): SyncResult {
  const friendId = () => `f${choices.numberBelow(sizes.friends)}`;
  const groupId = () => `g${choices.numberBelow(sizes.groups)}`;
  const text = () => choices.oneOf(['', 'plain', '"},{"[]', 'back\\slash', 'ünï\u2028cödé 😀', ',]']);
  const unique = <Row>(rows: Row[], keyOf: (row: Row) => string) => [
    ...new Map(rows.map((row) => [keyOf(row), row])).values(),
  ];
  const timestamp = version;
  const member = (): SyncMember => ({
    groupId: groupId(),
    memberId: `m${choices.numberBelow(sizes.members)}`,
    displayName: text(),
    role: choices.oneOf([0, 1, 2]),
    isDeleted: choices.numberBelow(3) === 0,
    timestamp,
    user: { nickname: text(), portraitUri: '' },
  });
  return {
    version,
    user: { id: 'ann', nickname: choices.oneOf(['Ann', 'Anna']), portraitUri: '', timestamp },
    blacklist: unique(
      upTo(choices, sizes.friends).map(() => ({
        friendId: friendId(),
        status: choices.numberBelow(2) === 0,
        timestamp,
      })),
      (entry) => entry.friendId,
    ),
    friends: unique(
      upTo(choices, sizes.friends).map(() => {
        return { friendId: friendId(), displayName: text(), status: choices.oneOf([10, 11, 20, 21, 30]), timestamp };
      }),
      (friend) => friend.friendId,
    ),
    groups: unique(
      upTo(choices, sizes.groups).map(() => ({
        displayName: text(),
        role: choices.oneOf([0, 1, 2]),
        isDeleted: choices.numberBelow(3) === 0,
        group: { id: groupId(), name: text(), portraitUri: '', timestamp },
      })),
      ({ group }) => group.id,
    ),
    group_members: unique(upTo(choices, sizes.members).map(member), (row) => `${row.groupId} ${row.memberId}`),
  };
}
