DROP FUNCTION adds_to_user, finds_all_of_user;
-- With their triggers.
DROP FUNCTION users_tell, phones_tell, session_tell, blacklist_tell, friendships_tell, groups_tell, group_dismissals_tell,
  group_members_tell, tell CASCADE;
DROP TABLE events;
