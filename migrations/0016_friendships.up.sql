-- Requests of friendship, which the operations under /friendship make and answer. Other services go on writing friendships
-- without these columns: a trigger sets them.

-- POST /friendship/:friendId/profile shares its place with the fixed paths, whatever their case.
ALTER TABLE users ADD CONSTRAINT users_id_no_path_friendship CHECK (lower(id) NOT IN (
  'invite', 'agree', 'ignore', 'delete', 'set_display_name', 'all'));

-- Apart from updated_at, which moves with each write of the row. Empty in rows from before: there updated_at has to do.
ALTER TABLE friendships
  -- What came with the request, on the side that was asked, until it is answered.
  ADD COLUMN message text NOT NULL DEFAULT '',
  -- Of the last request, on both sides.
  ADD COLUMN requested_at timestamptz,
  -- Of the last answer, on the side that gave it, and on both when they became friends.
  ADD COLUMN answered_at timestamptz,
  ADD CONSTRAINT friendships_message_bytes CHECK (octet_length(message) <= 64);

CREATE FUNCTION friendships_request() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' OR NEW.status <> OLD.status THEN
    IF NEW.status IN (10, 11) THEN
      NEW.requested_at := now();
    ELSIF NEW.status IN (20, 21) THEN
      NEW.answered_at := now();
    END IF;
  END IF;
  IF NEW.status <> 11 THEN
    NEW.message := '';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER friendships_request BEFORE INSERT OR UPDATE OF status, message ON friendships
  FOR EACH ROW EXECUTE FUNCTION friendships_request();

-- The new nickname or portrait of a friend, or of whoever has asked or was asked, is a change of the friendship for whoever
-- syncs with names. It has a version beside that of the row, so that everybody else is sent the row no second time.
ALTER TABLE friendships
  -- NULL: none since the row was written. Each write of the row delivers the present name as well.
  ADD COLUMN named_version bigint;
CREATE INDEX friendships_user_named ON friendships (user_id, named_version) WHERE named_version IS NOT NULL;

-- For a rename, and for a close, which ends what others have of the user, also where another service has written one side
-- alone.
CREATE INDEX friendships_friend ON friendships (friend_id) WHERE status <> 30;

-- Names of those on a blacklist are looked for by whoever syncs with names: those who hold, not all tombstones.
CREATE INDEX blacklist_user_held ON blacklist (user_id) WHERE status;

CREATE FUNCTION friendships_stamp() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.named_version IS DISTINCT FROM OLD.named_version
    AND (NEW.status, NEW.display_name, NEW.message) = (OLD.status, OLD.display_name, OLD.message) THEN
    NEW.named_version := sync_next_version();
    NEW.version := OLD.version;
    RETURN NEW;
  END IF;
  NEW.named_version := NULL;
  NEW.version := sync_next_version();
  IF TG_OP = 'UPDATE' AND NEW.updated_at = OLD.updated_at THEN
    NEW.updated_at := now();
  END IF;
  RETURN NEW;
END $$;
DROP TRIGGER friendships_stamp ON friendships;
CREATE TRIGGER friendships_stamp BEFORE INSERT OR UPDATE ON friendships
  FOR EACH ROW EXECUTE FUNCTION friendships_stamp();

-- A rename cannot see a friendship that is made beside it, so that one of the two has to wait: is_any_closed sees to that, in
-- the next migration. By the name of its trigger this fan-out comes before that to memberships: friendships are written before
-- memberships wherever both are, or two transactions could wait for each other.
CREATE FUNCTION users_touch_friendships() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  -- The version is the stamp's to make.
  UPDATE friendships SET named_version = 0 WHERE friend_id = NEW.id AND status <> 30;
  RETURN NULL;
END $$;
CREATE TRIGGER users_touch_friendships_of_new AFTER INSERT ON users
  FOR EACH ROW EXECUTE FUNCTION users_touch_friendships();
CREATE TRIGGER users_touch_friendships AFTER UPDATE ON users FOR EACH ROW
  WHEN ((NEW.nickname, NEW.portrait_uri) IS DISTINCT FROM (OLD.nickname, OLD.portrait_uri))
  EXECUTE FUNCTION users_touch_friendships();
