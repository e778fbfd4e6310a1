-- What others are told of: a row for each change, written by triggers in its transaction, whoever makes it. Version and
-- number order them. Whatever is at or below sync_horizon() is complete.
CREATE TABLE events (
  version bigint NOT NULL,
  number integer NOT NULL,
  -- The user or the group, and the other user whom the change concerns.
  subject text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  other text COLLATE "C" NOT NULL DEFAULT '',
  -- More of it, or empty.
  what text NOT NULL DEFAULT '',
  -- After all that the transaction did before, as far as services know that count milliseconds.
  at timestamptz(3) NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond',
  CONSTRAINT events_pkey PRIMARY KEY (version, number, subject)
);
-- Old events are deleted by time. They stand in its order.
CREATE INDEX events_at ON events USING brin (at);

CREATE FUNCTION tell(kind text, subject text, other text DEFAULT '', what text DEFAULT '') RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  -- Counts the events of the transaction.
  number integer := coalesce(nullif(current_setting('events.number', true), ''), '0')::integer + 1;
BEGIN
  PERFORM set_config('events.number', number::text, true);
  INSERT INTO events (version, number, subject, kind, other, what)
  VALUES (sync_next_version(), number, subject, kind, other, what);
END $$;

CREATE FUNCTION users_tell() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM tell('user.registered', NEW.id);
    RETURN NULL;
  END IF;
  IF NEW.closed_at IS NOT NULL AND OLD.closed_at IS NULL THEN
    PERFORM tell('user.closed', NEW.id);
  ELSIF (NEW.nickname, NEW.portrait_uri) IS DISTINCT FROM (OLD.nickname, OLD.portrait_uri) THEN
    PERFORM tell('user.updated', NEW.id);
  END IF;
  IF (NEW.suspended_at IS NULL) <> (OLD.suspended_at IS NULL) THEN
    PERFORM tell(CASE WHEN NEW.suspended_at IS NULL THEN 'user.restored' ELSE 'user.suspended' END, NEW.id);
  END IF;
  IF NEW.password_hash <> OLD.password_hash AND NEW.closed_at IS NULL THEN
    PERFORM tell('password.changed', NEW.id);
  END IF;
  IF NEW.credentials_version <> OLD.credentials_version THEN
    PERFORM tell('sessions.ended', NEW.id);
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION phones_tell() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM tell('phone.changed', NEW.user_id);
  RETURN NULL;
END $$;

-- Once for each user and statement. An expired session has ended before.
CREATE FUNCTION session_tell() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM tell('sessions.ended', owner)
     FROM (SELECT DISTINCT sess ->> 'userId' AS owner FROM ended WHERE expire > now()) AS owners
    WHERE owner IS NOT NULL;
  RETURN NULL;
END $$;

CREATE FUNCTION blacklist_tell() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM tell('blacklist.changed', NEW.user_id, NEW.friend_id, CASE WHEN NEW.status THEN 'added' ELSE 'removed' END);
  RETURN NULL;
END $$;

CREATE FUNCTION friendships_tell() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  -- As if there had been a deleted one: statuses are those of sync.
  before integer := CASE WHEN TG_OP = 'INSERT' THEN 30 ELSE OLD.status END;
BEGIN
  PERFORM tell('friendship.changed', NEW.user_id, NEW.friend_id, CASE
    WHEN NEW.status = before THEN ''
    WHEN NEW.status = 11 THEN 'requested'
    WHEN NEW.status = 20 AND before = 10 THEN 'accepted'
    WHEN NEW.status = 30 THEN 'deleted'
    ELSE '' END);
  RETURN NULL;
END $$;

CREATE FUNCTION groups_tell() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM tell('group.created', NEW.id);
  ELSE
    PERFORM tell('group.changed', NEW.id, what => CASE
      WHEN NEW.name <> OLD.name THEN 'renamed'
      WHEN NEW.creator_id <> OLD.creator_id THEN 'transferred'
      ELSE '' END);
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION group_dismissals_tell() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM tell('group.dismissed', NEW.group_id);
  RETURN NULL;
END $$;

CREATE FUNCTION group_members_tell() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM tell('members.changed', NEW.group_id, NEW.member_id, CASE
    WHEN NEW.is_deleted THEN 'left'
    WHEN TG_OP = 'INSERT' OR OLD.is_deleted THEN 'joined'
    ELSE '' END);
  RETURN NULL;
END $$;

-- On several servers the table is not where these rows are (migrations/distributed).
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
    RETURN;
  END IF;
  CREATE TRIGGER users_tell_of_new AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION users_tell();
  CREATE TRIGGER users_tell AFTER UPDATE ON users FOR EACH ROW
    WHEN ((NEW.nickname, NEW.portrait_uri, NEW.closed_at, NEW.suspended_at, NEW.password_hash, NEW.credentials_version)
      IS DISTINCT FROM
      (OLD.nickname, OLD.portrait_uri, OLD.closed_at, OLD.suspended_at, OLD.password_hash, OLD.credentials_version))
    EXECUTE FUNCTION users_tell();
  CREATE TRIGGER phones_tell AFTER INSERT OR UPDATE ON phones FOR EACH ROW EXECUTE FUNCTION phones_tell();
  CREATE TRIGGER session_tell AFTER DELETE ON session
    REFERENCING OLD TABLE AS ended FOR EACH STATEMENT EXECUTE FUNCTION session_tell();
  CREATE TRIGGER blacklist_tell_of_new AFTER INSERT ON blacklist FOR EACH ROW
    WHEN (NEW.status) EXECUTE FUNCTION blacklist_tell();
  CREATE TRIGGER blacklist_tell AFTER UPDATE ON blacklist FOR EACH ROW
    WHEN (NEW.status <> OLD.status) EXECUTE FUNCTION blacklist_tell();
  CREATE TRIGGER friendships_tell_of_new AFTER INSERT ON friendships FOR EACH ROW
    WHEN (NEW.status <> 30) EXECUTE FUNCTION friendships_tell();
  CREATE TRIGGER friendships_tell AFTER UPDATE ON friendships FOR EACH ROW
    WHEN ((NEW.status, NEW.display_name, NEW.message) IS DISTINCT FROM (OLD.status, OLD.display_name, OLD.message))
    EXECUTE FUNCTION friendships_tell();
  CREATE TRIGGER groups_tell_of_new AFTER INSERT ON groups FOR EACH ROW EXECUTE FUNCTION groups_tell();
  CREATE TRIGGER groups_tell AFTER UPDATE ON groups FOR EACH ROW
    WHEN ((NEW.name, NEW.portrait_uri, NEW.bulletin, NEW.creator_id)
      IS DISTINCT FROM (OLD.name, OLD.portrait_uri, OLD.bulletin, OLD.creator_id))
    EXECUTE FUNCTION groups_tell();
  CREATE TRIGGER group_dismissals_tell AFTER INSERT ON group_dismissals
    FOR EACH ROW EXECUTE FUNCTION group_dismissals_tell();
  CREATE TRIGGER group_members_tell_of_new AFTER INSERT ON group_members FOR EACH ROW
    WHEN (NOT NEW.is_deleted) EXECUTE FUNCTION group_members_tell();
  CREATE TRIGGER group_members_tell AFTER UPDATE ON group_members FOR EACH ROW
    WHEN ((NEW.role, NEW.display_name, NEW.is_deleted) IS DISTINCT FROM (OLD.role, OLD.display_name, OLD.is_deleted))
    EXECUTE FUNCTION group_members_tell();
END $$;

-- Locks that only several servers need: migrations/distributed.
CREATE FUNCTION adds_to_user(one text) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION finds_all_of_user(one text) RETURNS void LANGUAGE sql AS '';
