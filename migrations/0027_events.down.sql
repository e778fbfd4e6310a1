DROP TRIGGER IF EXISTS users_tell_of_new ON users;
DROP TRIGGER IF EXISTS users_tell ON users;
DROP TRIGGER IF EXISTS phones_tell ON phones;
DROP TRIGGER IF EXISTS session_tell ON session;
DROP TRIGGER IF EXISTS blacklist_tell_of_new ON blacklist;
DROP TRIGGER IF EXISTS blacklist_tell ON blacklist;
DROP TRIGGER IF EXISTS friendships_tell_of_new ON friendships;
DROP TRIGGER IF EXISTS friendships_tell ON friendships;
DROP TRIGGER IF EXISTS groups_tell_of_new ON groups;
DROP TRIGGER IF EXISTS groups_tell ON groups;
DROP TRIGGER IF EXISTS group_dismissals_tell ON group_dismissals;
DROP TRIGGER IF EXISTS group_members_tell_of_new ON group_members;
DROP TRIGGER IF EXISTS group_members_tell ON group_members;
DROP FUNCTION users_tell, phones_tell, session_tell, blacklist_tell, friendships_tell, groups_tell, group_dismissals_tell,
  group_members_tell, tell;
DROP TABLE events;
