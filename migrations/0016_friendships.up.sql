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
CREATE TRIGGER friendships_request BEFORE INSERT OR UPDATE ON friendships
  FOR EACH ROW EXECUTE FUNCTION friendships_request();
