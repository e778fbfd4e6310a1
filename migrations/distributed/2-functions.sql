-- Triggers keep to the server of their row. What concerns rows of other servers is done by whoever writes, in the same
-- transaction, by the functions below: docs/distributed.md.

-- Citus moves rows to another server although they are locked, unless they were written. A lock would be left behind there.
-- This keeps whatever the user or group has where it is, until the end of the transaction. With the owner's rights, since
-- only an owner may ask for this.
CREATE OR REPLACE FUNCTION hold_in_place(key text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
BEGIN
  -- 5 is a ShareLock. Groups have the same parts as users.
  PERFORM lock_shard_metadata(5, ARRAY[get_shard_id_for_distribution_column('users', key)]);
END $$;

-- The functions for those who write run with their rights: Citus refuses two users in one transaction.

-- A commit lets the locks of one server go before the rows on another can be seen. These locks are kept by the server where
-- the service connects until all can be seen: one for each who adds rows of a user, and one for whoever has to find them
-- all. Taken after the row of the user is locked, so that nobody who has one waits for that row.
CREATE OR REPLACE FUNCTION adds_to_user(one text) RETURNS void LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(1, hashtext(one));
END $$;
CREATE OR REPLACE FUNCTION finds_all_of_user(one text) RETURNS void LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(1, hashtext(one));
END $$;

-- Locks a user, and returns whether the account is closed.
CREATE OR REPLACE FUNCTION is_closed(one text) RETURNS boolean LANGUAGE plpgsql SECURITY INVOKER
  SET search_path = public, pg_temp AS $$
BEGIN
  -- Two statements: the one with the lock may have read the row before it waited.
  PERFORM FROM users WHERE id = one FOR SHARE;
  PERFORM FROM users WHERE id = one AND closed_at IS NOT NULL;
  RETURN FOUND;
END $$;

-- Locks users in the order of their ids, one by one, and returns whether an account of them is closed.
CREATE OR REPLACE FUNCTION is_any_closed(VARIADIC ids text[]) RETURNS boolean LANGUAGE plpgsql SECURITY INVOKER
  SET search_path = public, pg_temp AS $$
DECLARE
  one text;
  found_closed boolean := false;
BEGIN
  FOR one IN SELECT DISTINCT id COLLATE "C" FROM unnest(ids) AS given (id) ORDER BY 1 LOOP
    PERFORM hold_in_place(one);
    found_closed := is_closed(one) OR found_closed;
    PERFORM adds_to_user(one);
  END LOOP;
  RETURN found_closed;
END $$;

-- Memberships are kept by group. user_groups leads from a user to them, so that nobody looks for them on all servers. Called
-- before the membership is written: whoever is told a version of the membership then finds the way to it.
CREATE OR REPLACE FUNCTION user_joins(member text, joined text) RETURNS void LANGUAGE plpgsql SECURITY INVOKER
  SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO user_groups (user_id, group_id) VALUES (member, joined) ON CONFLICT (user_id, group_id) DO NOTHING;
END $$;
CREATE OR REPLACE FUNCTION groups_of(member text) RETURNS SETOF text LANGUAGE plpgsql STABLE
  SET search_path = public, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT group_id FROM user_groups WHERE user_id = member;
END $$;
CREATE OR REPLACE FUNCTION memberships_of(member text, most integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  own text[] := ARRAY(SELECT * FROM groups_of(member));
BEGIN
  -- For an empty list Citus asks all parts.
  IF own = '{}' THEN
    RETURN 0;
  END IF;
  -- With a column: Citus cannot count rows without one.
  RETURN (SELECT count(*)
            FROM (SELECT 1 FROM group_members
                   WHERE group_id = ANY (own) AND member_id = member AND NOT is_deleted LIMIT most) counted);
END $$;

-- Tells friends and members of the same groups of a new nickname or portrait. A friend whose side another service has
-- written alone gets the user's side as well, an ended one: it leads from the user to whoever waits for the name.
CREATE OR REPLACE FUNCTION user_renamed(renamed text) RETURNS void LANGUAGE plpgsql SECURITY INVOKER
  SET search_path = public, pg_temp AS $$
DECLARE
  own text[];
  told text[];
  known text[];
  lone text;
BEGIN
  PERFORM finds_all_of_user(renamed);
  own := ARRAY(SELECT * FROM groups_of(renamed));
  WITH changed AS (UPDATE friendships SET named_version = 0 WHERE friend_id = renamed AND status <> 30 RETURNING user_id)
    SELECT array_agg(user_id) INTO told FROM changed;
  known := ARRAY(SELECT friend_id FROM friendships WHERE user_id = renamed);
  FOR lone IN SELECT one FROM unnest(told) AS friend (one) WHERE one <> ALL (known) LOOP
    INSERT INTO friendships (user_id, friend_id, status) VALUES (renamed, lone, 30)
      ON CONFLICT (user_id, friend_id) DO NOTHING;
  END LOOP;
  -- For an empty list Citus asks all parts.
  IF own <> '{}' THEN
    UPDATE group_members SET version = version WHERE group_id = ANY (own) AND member_id = renamed AND NOT is_deleted;
  END IF;
END $$;
DROP TRIGGER IF EXISTS users_touch_friendships_of_new ON users;
DROP TRIGGER IF EXISTS users_touch_friendships ON users;
DROP TRIGGER IF EXISTS users_touch_memberships_of_new ON users;
DROP TRIGGER IF EXISTS users_touch_memberships ON users;

-- The user of the row is on its server. The friend may be on another.
CREATE OR REPLACE FUNCTION blacklist_of_open() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
BEGIN
  RETURN CASE WHEN is_closed(NEW.user_id) THEN NULL ELSE NEW END;
END $$;
CREATE OR REPLACE FUNCTION friendships_of_open() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
BEGIN
  RETURN CASE WHEN is_closed(NEW.user_id) THEN NULL ELSE NEW END;
END $$;

-- A member may be on another server than the group.
DROP TRIGGER IF EXISTS group_members_of_open ON group_members;
DROP TRIGGER IF EXISTS group_members_of_open_again ON group_members;
CREATE OR REPLACE FUNCTION group_members_stamp() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
BEGIN
  NEW.version := sync_next_version();
  IF TG_OP = 'INSERT' OR NOT NEW.is_deleted AND OLD.is_deleted THEN
    NEW.joined_version := NEW.version;
  ELSE
    NEW.joined_version := OLD.joined_version;
  END IF;
  IF TG_OP = 'UPDATE' AND NEW.updated_at = OLD.updated_at
    AND (NEW.display_name, NEW.role, NEW.is_deleted) IS DISTINCT FROM (OLD.display_name, OLD.role, OLD.is_deleted) THEN
    NEW.updated_at := now();
  END IF;
  RETURN NEW;
END $$;

-- Members are counted row by row: a trigger of a statement sees no rows of a distributed table.
DROP TRIGGER IF EXISTS group_members_count_new ON group_members;
DROP TRIGGER IF EXISTS group_members_count ON group_members;
DROP TRIGGER IF EXISTS group_members_count_buried ON group_members;
CREATE OR REPLACE FUNCTION group_members_count() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
DECLARE
  change integer := (NOT NEW.is_deleted)::integer;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    change := change - (NOT OLD.is_deleted)::integer;
  END IF;
  IF change <> 0 THEN
    UPDATE group_sizes SET members = members + change WHERE group_id = NEW.group_id;
  END IF;
  RETURN NULL;
END $$;
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'group_members_count_one') THEN
    CREATE TRIGGER group_members_count_one AFTER INSERT OR UPDATE ON group_members
      FOR EACH ROW EXECUTE FUNCTION group_members_count();
  END IF;
END $$;
CREATE OR REPLACE FUNCTION group_members_bury() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE group_members SET is_deleted = true
    WHERE group_id = OLD.group_id AND member_id = OLD.member_id AND NOT is_deleted;
  RETURN NULL;
END $$;

-- Events of what is on another server are written there, and gathered from there. The version of the transaction was drawn
-- when it began to write, and later ones may have changed the row since: an event has the time at which it is told, when the
-- row is locked. It is never below that of the transaction, whose lock keeps the horizon below both. Of one version, the
-- numbers of each server are its own.
CREATE OR REPLACE FUNCTION tell(kind text, subject text, other text DEFAULT '', what text DEFAULT '') RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  version bigint := greatest(sync_next_version(), sync_clock());
  number integer := coalesce(nullif(current_setting('events.number', true), ''), '0')::integer + 1;
  server integer := (SELECT groupid FROM pg_dist_local_group);
BEGIN
  PERFORM set_config('events.number', number::text, true);
  IF server = 0 THEN
    INSERT INTO events (version, number, subject, kind, other, what)
    VALUES (version, number, subject, kind, other, what);
  ELSE
    INSERT INTO events_elsewhere (version, number, subject, kind, other, what)
    VALUES (version, server * 1000000 + number, subject, kind, other, what);
  END IF;
END $$;

-- The version of the first event on this server that readers do not see yet. Asked of each server by itself, which costs a
-- fraction of what Citus needs to ask for all parts. Only a hint while parts are moved: an event that it misses is found by
-- the next question.
CREATE OR REPLACE FUNCTION first_ungathered_event() RETURNS bigint LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
DECLARE
  here integer := (SELECT groupid FROM pg_dist_local_group);
  part text;
  one bigint;
  first bigint;
BEGIN
  IF here = 0 THEN
    SELECT min(version) INTO first FROM events
     WHERE version > (SELECT version FROM event_readers WHERE name = 'gathered');
  END IF;
  FOR part IN
    SELECT shard_name(logicalrelid, shardid) FROM pg_dist_shard JOIN pg_dist_placement USING (shardid)
     WHERE logicalrelid = 'events_elsewhere'::regclass AND groupid = here
       -- Most have no rows, and to read one costs ten times as much as to see that.
       AND pg_relation_size(to_regclass(shard_name(logicalrelid, shardid))) > 0
  LOOP
    EXECUTE 'SELECT min(version) FROM ' || part INTO one;
    first := least(first, one);
  END LOOP;
  RETURN first;
END $$;

-- Takes events over up to a horizon of all servers, in one transaction. An instance that finds another at it leaves it.
CREATE OR REPLACE FUNCTION gather_events(horizon bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM FROM event_readers WHERE name = 'gathered' AND version < horizon FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  INSERT INTO events (version, number, subject, kind, other, what, at)
    SELECT version, number, subject, kind, other, what, at FROM events_elsewhere WHERE version <= horizon;
  IF FOUND THEN
    DELETE FROM events_elsewhere WHERE version <= horizon;
  END IF;
  UPDATE event_readers SET version = horizon WHERE name = 'gathered';
END $$;
