-- Tables that grow with the people and their circles, over the servers of a Citus. Each of users, relations and groups is
-- kept with its own key, so that whatever one user or one group has is on one server. All other tables stay where the
-- service connects.

CREATE FUNCTION pg_temp.distribute(distributed regclass, key text, beside text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = distributed) THEN
    PERFORM create_distributed_table(distributed, key, colocate_with => beside);
  END IF;
END $$;

SELECT pg_temp.distribute('users', 'id', 'default');
SELECT pg_temp.distribute('account_closings', 'user_id', 'users');
SELECT pg_temp.distribute('blacklist', 'user_id', 'users');
SELECT pg_temp.distribute('friendships', 'user_id', 'users');
SELECT pg_temp.distribute('images', 'user_id', 'users');
SELECT pg_temp.distribute('messaging_tokens', 'user_id', 'users');
SELECT pg_temp.distribute('messaging_expiries', 'user_id', 'users');
SELECT pg_temp.distribute('groups', 'id', 'users');
SELECT pg_temp.distribute('group_members', 'group_id', 'users');
SELECT pg_temp.distribute('group_sizes', 'group_id', 'users');
SELECT pg_temp.distribute('group_dismissals', 'group_id', 'users');

DO $$
BEGIN
  IF to_regclass('events_elsewhere') IS NULL THEN
    CREATE TABLE events_elsewhere (LIKE events INCLUDING DEFAULTS);
    ALTER TABLE events_elsewhere ADD CONSTRAINT events_elsewhere_pkey PRIMARY KEY (version, number, subject);
    PERFORM create_distributed_table('events_elsewhere', 'subject', colocate_with => 'users');
  END IF;
END $$;

-- The groups that each user is or was in, by user. Its version only holds the horizon back until the row can be seen.
CREATE OR REPLACE FUNCTION user_groups_stamp() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
BEGIN
  NEW.version := sync_next_version();
  RETURN NEW;
END $$;
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass('user_groups')) THEN
    RETURN;
  END IF;
  -- A backup has put it back on one server.
  DROP TABLE IF EXISTS user_groups;
  CREATE TABLE user_groups (
    user_id text COLLATE "C" NOT NULL,
    group_id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT user_groups_pkey PRIMARY KEY (user_id, group_id)
  );
  CREATE TRIGGER user_groups_stamp BEFORE INSERT ON user_groups FOR EACH ROW EXECUTE FUNCTION user_groups_stamp();
  PERFORM create_distributed_table('user_groups', 'user_id', colocate_with => 'users');
  INSERT INTO user_groups (user_id, group_id, version) SELECT member_id, group_id, 0 FROM group_members;
END $$;

-- As on one PostgreSQL.
CREATE FUNCTION pg_temp.tells(name text, event text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgname = name) THEN
    EXECUTE format('CREATE TRIGGER %I AFTER %s', name, event);
  END IF;
END $$;
SELECT pg_temp.tells('users_tell_of_new', 'INSERT ON users FOR EACH ROW EXECUTE FUNCTION users_tell()');
SELECT pg_temp.tells('users_tell', 'UPDATE ON users FOR EACH ROW
  WHEN ((NEW.nickname, NEW.portrait_uri, NEW.closed_at, NEW.suspended_at, NEW.password_hash, NEW.credentials_version)
    IS DISTINCT FROM
    (OLD.nickname, OLD.portrait_uri, OLD.closed_at, OLD.suspended_at, OLD.password_hash, OLD.credentials_version))
  EXECUTE FUNCTION users_tell()');
SELECT pg_temp.tells('phones_tell', 'INSERT OR UPDATE OF phone, region, user_id ON phones
  FOR EACH ROW EXECUTE FUNCTION phones_tell()');
SELECT pg_temp.tells('session_tell', 'DELETE ON session
  REFERENCING OLD TABLE AS ended FOR EACH STATEMENT EXECUTE FUNCTION session_tell()');
SELECT pg_temp.tells('blacklist_tell_of_new', 'INSERT ON blacklist FOR EACH ROW
  WHEN (NEW.status) EXECUTE FUNCTION blacklist_tell()');
SELECT pg_temp.tells('blacklist_tell', 'UPDATE ON blacklist FOR EACH ROW
  WHEN (NEW.status <> OLD.status) EXECUTE FUNCTION blacklist_tell()');
SELECT pg_temp.tells('friendships_tell_of_new', 'INSERT ON friendships FOR EACH ROW
  WHEN (NEW.status <> 30) EXECUTE FUNCTION friendships_tell()');
SELECT pg_temp.tells('friendships_tell', 'UPDATE ON friendships FOR EACH ROW
  WHEN ((NEW.status, NEW.display_name, NEW.message) IS DISTINCT FROM (OLD.status, OLD.display_name, OLD.message))
  EXECUTE FUNCTION friendships_tell()');
SELECT pg_temp.tells('groups_tell_of_new', 'INSERT ON groups FOR EACH ROW EXECUTE FUNCTION groups_tell()');
SELECT pg_temp.tells('groups_tell', 'UPDATE ON groups FOR EACH ROW
  WHEN ((NEW.name, NEW.portrait_uri, NEW.bulletin, NEW.creator_id)
    IS DISTINCT FROM (OLD.name, OLD.portrait_uri, OLD.bulletin, OLD.creator_id))
  EXECUTE FUNCTION groups_tell()');
SELECT pg_temp.tells('group_dismissals_tell', 'INSERT ON group_dismissals
  FOR EACH ROW EXECUTE FUNCTION group_dismissals_tell()');
SELECT pg_temp.tells('group_members_tell_of_new', 'INSERT ON group_members FOR EACH ROW
  WHEN (NOT NEW.is_deleted) EXECUTE FUNCTION group_members_tell()');
SELECT pg_temp.tells('group_members_tell', 'UPDATE ON group_members FOR EACH ROW
  WHEN ((NEW.role, NEW.display_name, NEW.is_deleted) IS DISTINCT FROM (OLD.role, OLD.display_name, OLD.is_deleted))
  EXECUTE FUNCTION group_members_tell()');
