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
