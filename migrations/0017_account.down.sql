DROP TRIGGER blacklist_of_open ON blacklist;
DROP TRIGGER blacklist_of_open_again ON blacklist;
DROP TRIGGER friendships_of_open ON friendships;
DROP TRIGGER friendships_of_open_again ON friendships;
DROP TRIGGER group_members_of_open ON group_members;
DROP TRIGGER group_members_of_open_again ON group_members;
DROP FUNCTION blacklist_of_open;
DROP FUNCTION friendships_of_open;
DROP FUNCTION group_members_of_open;
DROP FUNCTION is_any_closed;

ALTER TABLE users DROP CONSTRAINT users_id_no_path_account, DROP COLUMN is_findable;
