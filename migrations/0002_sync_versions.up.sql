-- Versions for sync. A version is base + transaction id, so that whatever was still running when a client asked is above
-- the horizon it was given: docs/data.md and docs/decisions/0002-sync-versions.md explain why nothing gets lost.

DO $$
BEGIN
  PERFORM pg_walfile_name(pg_current_wal_insert_lsn());
  PERFORM system_identifier FROM pg_control_system();
EXCEPTION WHEN insufficient_privilege OR undefined_function OR feature_not_supported THEN
  RAISE EXCEPTION 'this PostgreSQL withholds pg_walfile_name() or pg_control_system(), without which sync cannot survive a failover: grant EXECUTE on both to %', current_user;
END $$;

-- One row a WAL timeline: after a failover transaction ids restart lower than clients hold, so a new base is opened.
CREATE TABLE sync_epoch (
  timeline_id integer NOT NULL,
  base bigint NOT NULL,
  system_identifier bigint NOT NULL,
  CONSTRAINT sync_epoch_pkey PRIMARY KEY (timeline_id)
);

CREATE FUNCTION sync_timeline() RETURNS integer LANGUAGE sql VOLATILE AS $$
  SELECT ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::integer
$$;

-- Microseconds since 1970, so that any later source of versions only jumps forward.
CREATE FUNCTION sync_clock() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1e6)::bigint
$$;

CREATE FUNCTION sync_next_version() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  current_base bigint;
  transaction_id bigint := pg_current_xact_id()::text::bigint;
  timeline integer := sync_timeline();
BEGIN
  SELECT base INTO current_base FROM sync_epoch WHERE timeline_id = timeline;
  IF current_base IS NULL THEN
    INSERT INTO sync_epoch
      SELECT timeline, sync_clock() - transaction_id, system_identifier FROM pg_control_system()
      ON CONFLICT (timeline_id) DO NOTHING;
    -- Still NULL under an older snapshot: then NOT NULL fails and the writer tries again, but no low version is given out.
    SELECT base INTO current_base FROM sync_epoch WHERE timeline_id = timeline;
  END IF;
  RETURN current_base + transaction_id;
END $$;

-- Whatever is at or below it has been decided: no transaction that is still running can write there.
CREATE FUNCTION sync_horizon() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT max(base) + pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1 FROM sync_epoch
$$;

-- After a restore into another cluster: once, with all writers off. Old versions stay behind the new base.
CREATE FUNCTION sync_rebase() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM sync_epoch;
  INSERT INTO sync_epoch
    SELECT sync_timeline(), sync_clock() - pg_current_xact_id()::text::bigint, system_identifier FROM pg_control_system();
END $$;

SELECT sync_rebase();

-- The trigger functions run with their owner's rights, so that a role with rights on the relation tables alone can write them.

CREATE FUNCTION users_stamp() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' OR (NEW.nickname, NEW.portrait_uri) IS DISTINCT FROM (OLD.nickname, OLD.portrait_uri) THEN
    NEW.version := sync_next_version();
  ELSE
    NEW.version := OLD.version;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER users_stamp BEFORE INSERT OR UPDATE ON users FOR EACH ROW EXECUTE FUNCTION users_stamp();

-- The one fan-out: members carry their user's nickname and portrait to everyone in the group.
CREATE FUNCTION users_touch_memberships() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE group_members SET version = version WHERE member_id = NEW.id AND NOT is_deleted;
  RETURN NULL;
END $$;
CREATE TRIGGER users_touch_memberships_of_new AFTER INSERT ON users
  FOR EACH ROW EXECUTE FUNCTION users_touch_memberships();
CREATE TRIGGER users_touch_memberships AFTER UPDATE ON users FOR EACH ROW
  WHEN ((NEW.nickname, NEW.portrait_uri) IS DISTINCT FROM (OLD.nickname, OLD.portrait_uri))
  EXECUTE FUNCTION users_touch_memberships();

CREATE FUNCTION groups_stamp() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' OR (NEW.name, NEW.portrait_uri) IS DISTINCT FROM (OLD.name, OLD.portrait_uri) THEN
    NEW.version := sync_next_version();
  ELSE
    NEW.version := OLD.version;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER groups_stamp BEFORE INSERT OR UPDATE ON groups FOR EACH ROW EXECUTE FUNCTION groups_stamp();

-- blacklist and friendships
CREATE FUNCTION relation_stamp() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  NEW.version := sync_next_version();
  IF TG_OP = 'UPDATE' AND NEW.updated_at = OLD.updated_at THEN
    NEW.updated_at := now();
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER blacklist_stamp BEFORE INSERT OR UPDATE ON blacklist FOR EACH ROW EXECUTE FUNCTION relation_stamp();
CREATE TRIGGER friendships_stamp BEFORE INSERT OR UPDATE ON friendships FOR EACH ROW EXECUTE FUNCTION relation_stamp();

CREATE FUNCTION group_members_stamp() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  joins boolean := NOT NEW.is_deleted AND (TG_OP = 'INSERT' OR OLD.is_deleted);
BEGIN
  NEW.version := sync_next_version();
  IF TG_OP = 'INSERT' OR joins THEN
    NEW.joined_version := NEW.version;
  ELSE
    NEW.joined_version := OLD.joined_version;
  END IF;
  IF TG_OP = 'UPDATE' AND NEW.updated_at = OLD.updated_at
    AND (NEW.display_name, NEW.role, NEW.is_deleted) IS DISTINCT FROM (OLD.display_name, OLD.role, OLD.is_deleted) THEN
    NEW.updated_at := now();
  END IF;
  IF joins THEN
    -- A rename beside this join cannot see the new row in its fan-out: it has to wait, or this join has to.
    PERFORM 1 FROM users WHERE id = NEW.member_id FOR SHARE;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER group_members_stamp BEFORE INSERT OR UPDATE ON group_members
  FOR EACH ROW EXECUTE FUNCTION group_members_stamp();

-- Clients have to hear of what ended, so a DELETE leaves a tombstone.

CREATE FUNCTION blacklist_bury() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE blacklist SET status = false WHERE user_id = OLD.user_id AND friend_id = OLD.friend_id AND status;
  RETURN NULL;
END $$;
CREATE TRIGGER blacklist_bury BEFORE DELETE ON blacklist FOR EACH ROW EXECUTE FUNCTION blacklist_bury();

CREATE FUNCTION friendships_bury() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE friendships SET status = 30 WHERE user_id = OLD.user_id AND friend_id = OLD.friend_id AND status <> 30;
  RETURN NULL;
END $$;
CREATE TRIGGER friendships_bury BEFORE DELETE ON friendships FOR EACH ROW EXECUTE FUNCTION friendships_bury();

CREATE FUNCTION group_members_bury() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE group_members SET is_deleted = true
    WHERE group_id = OLD.group_id AND member_id = OLD.member_id AND NOT is_deleted;
  RETURN NULL;
END $$;
CREATE TRIGGER group_members_bury BEFORE DELETE ON group_members FOR EACH ROW EXECUTE FUNCTION group_members_bury();

CREATE FUNCTION refuse_removal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% on % would hide a change from clients', TG_OP, TG_TABLE_NAME
    USING HINT = 'Close an account with users.closed_at, dissolve a group with is_deleted on its members, end a relation with DELETE.';
END $$;
CREATE TRIGGER users_keep BEFORE DELETE ON users FOR EACH ROW EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER groups_keep BEFORE DELETE ON groups FOR EACH ROW EXECUTE FUNCTION refuse_removal();

-- A changed key would be a row that ended without a tombstone.
CREATE TRIGGER users_keep_key BEFORE UPDATE ON users FOR EACH ROW
  WHEN (NEW.id <> OLD.id) EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER groups_keep_key BEFORE UPDATE ON groups FOR EACH ROW
  WHEN (NEW.id <> OLD.id) EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER blacklist_keep_key BEFORE UPDATE ON blacklist FOR EACH ROW
  WHEN ((NEW.user_id, NEW.friend_id) <> (OLD.user_id, OLD.friend_id)) EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER friendships_keep_key BEFORE UPDATE ON friendships FOR EACH ROW
  WHEN ((NEW.user_id, NEW.friend_id) <> (OLD.user_id, OLD.friend_id)) EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER group_members_keep_key BEFORE UPDATE ON group_members FOR EACH ROW
  WHEN ((NEW.group_id, NEW.member_id) <> (OLD.group_id, OLD.member_id)) EXECUTE FUNCTION refuse_removal();

REVOKE TRUNCATE ON users, blacklist, friendships, groups, group_members FROM PUBLIC, CURRENT_USER;
CREATE TRIGGER users_keep_all BEFORE TRUNCATE ON users EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER blacklist_keep_all BEFORE TRUNCATE ON blacklist EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER friendships_keep_all BEFORE TRUNCATE ON friendships EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER groups_keep_all BEFORE TRUNCATE ON groups EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER group_members_keep_all BEFORE TRUNCATE ON group_members EXECUTE FUNCTION refuse_removal();
