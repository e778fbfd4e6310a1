DROP TRIGGER friendships_request ON friendships;
DROP FUNCTION friendships_request;
ALTER TABLE friendships DROP COLUMN message, DROP COLUMN requested_at, DROP COLUMN answered_at;
ALTER TABLE users DROP CONSTRAINT users_id_no_path_friendship;
