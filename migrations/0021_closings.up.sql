-- What an account leaves when it is closed is ended in chunks, after the short transaction that closes it.

-- Closed accounts that may have rows left to end.
CREATE TABLE account_closings (
  user_id text COLLATE "C" NOT NULL,
  CONSTRAINT account_closings_pkey PRIMARY KEY (user_id),
  CONSTRAINT account_closings_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id)
);

CREATE FUNCTION users_close() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO account_closings (user_id) VALUES (NEW.id) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER users_close AFTER UPDATE ON users FOR EACH ROW
  WHEN (OLD.closed_at IS NULL AND NEW.closed_at IS NOT NULL) EXECUTE FUNCTION users_close();

-- A closed account tells nobody of its emptied name: each of its rows ends, and is told by that.
DROP TRIGGER users_touch_friendships ON users;
CREATE TRIGGER users_touch_friendships AFTER UPDATE ON users FOR EACH ROW
  WHEN (NEW.closed_at IS NULL AND (NEW.nickname, NEW.portrait_uri) IS DISTINCT FROM (OLD.nickname, OLD.portrait_uri))
  EXECUTE FUNCTION users_touch_friendships();
DROP TRIGGER users_touch_memberships ON users;
CREATE TRIGGER users_touch_memberships AFTER UPDATE ON users FOR EACH ROW
  WHEN (NEW.closed_at IS NULL AND (NEW.nickname, NEW.portrait_uri) IS DISTINCT FROM (OLD.nickname, OLD.portrait_uri))
  EXECUTE FUNCTION users_touch_memberships();

-- A request of an account that is closed stays until its chunk: until then nobody becomes a friend by it.
DROP TRIGGER friendships_of_open_again ON friendships;
CREATE TRIGGER friendships_of_open_again BEFORE UPDATE ON friendships FOR EACH ROW
  WHEN (NEW.status <> 30 AND OLD.status = 30 OR NEW.status = 20 AND OLD.status <> 20)
  EXECUTE FUNCTION friendships_of_open();

-- Accounts that were closed in SQL, with rows left.
INSERT INTO account_closings (user_id)
  SELECT id FROM users
   WHERE closed_at IS NOT NULL
     AND (EXISTS (SELECT FROM blacklist WHERE user_id = id AND status)
          OR EXISTS (SELECT FROM friendships WHERE user_id = id AND (status <> 30 OR display_name <> ''))
          OR EXISTS (SELECT FROM friendships WHERE friend_id = id AND status <> 30)
          OR EXISTS (SELECT FROM group_members WHERE member_id = id AND NOT is_deleted));
