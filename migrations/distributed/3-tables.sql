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
