DROP TRIGGER users_touch_friendships ON users;
DROP TRIGGER users_touch_friendships_of_new ON users;
DROP FUNCTION users_touch_friendships;
DROP TRIGGER friendships_stamp ON friendships;
CREATE TRIGGER friendships_stamp BEFORE INSERT OR UPDATE ON friendships FOR EACH ROW EXECUTE FUNCTION relation_stamp();
DROP FUNCTION friendships_stamp;
DROP INDEX blacklist_user_held, friendships_friend, friendships_user_named;
ALTER TABLE friendships DROP COLUMN named_version;

DROP TRIGGER friendships_request ON friendships;
DROP FUNCTION friendships_request;
ALTER TABLE friendships DROP COLUMN message, DROP COLUMN requested_at, DROP COLUMN answered_at;
ALTER TABLE users DROP CONSTRAINT users_id_no_path_friendship;
