DROP TABLE group_members, groups, friendships, blacklist, phones, users;
