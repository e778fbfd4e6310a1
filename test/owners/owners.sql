-- Makes PostgreSQL note, in its log, each statement of the service that touches rows of two owners. What its triggers
-- touch counts as well. Nothing is refused. For a migrated database, as a superuser.

-- A WHERE with an operator that is not leakproof is checked after the policy, so rows that are left out would count.
UPDATE pg_proc SET proleakproof = true WHERE pronamespace = 'pg_catalog'::regnamespace AND provolatile <> 'v';

-- The price puts it after the conditions of a statement. `owners.seen` is the time of a statement and its first owner,
-- or only the time, once the statement is noted.
CREATE FUNCTION note_owner(owner text) RETURNS boolean LANGUAGE plpgsql VOLATILE COST 100000 AS $$
DECLARE
  statement text := statement_timestamp()::text;
  seen text := current_setting('owners.seen', true);
BEGIN
  IF session_user <> 'accounts_service' OR seen = statement OR seen = concat_ws(' of ', statement, owner) THEN
    RETURN true;
  END IF;
  IF coalesce(starts_with(seen, statement), false) THEN
    PERFORM set_config('owners.seen', statement, false);
    RAISE LOG 'two owners: %', to_json(current_query());
  ELSE
    PERFORM set_config('owners.seen', concat_ws(' of ', statement, owner), false);
  END IF;
  RETURN true;
END $$;

-- Policies bind no superuser, so tables and functions, which may be SECURITY DEFINER, get another owner.
CREATE ROLE owner_of_tables NOLOGIN;
GRANT USAGE ON SCHEMA public TO owner_of_tables;

-- The owner of a row is a user, a group, a phone, or what else its table is found by. Tables in quotes have one owner
-- for all rows. Small tables that each server would have, those of migrations, and events and who is told of them, which
-- stay on one server, have none.
DO $$
DECLARE
  one record;
BEGIN
  FOR one IN
    SELECT oid::regclass AS name, owner, known.name IS NOT NULL AS is_known
      FROM pg_class LEFT JOIN (VALUES
      ('users', 'id'), ('blacklist', 'user_id'), ('friendships', 'user_id'), ('account_closings', 'user_id'),
      ('messaging_tokens', 'user_id'), ('messaging_expiries', 'user_id'), ('images', 'user_id'),
      ('groups', 'id'), ('group_members', 'group_id'), ('group_sizes', 'group_id'), ('group_dismissals', 'group_id'),
      ('phones', 'phone'), ('number_claims', 'phone'), ('verification_codes', 'phone'), ('verification_tokens', 'token_hash::text'),
      ('session', 'sid'), ('rate_limits', 'key'), ('captchas', 'id'),
      ('security_events', '''security_events'''), ('sms_traffic', '''sms_traffic'''), ('sms_networks', '''sms_networks'''),
      ('security_events_kept', NULL), ('admin_tokens', NULL), ('sync_epoch', NULL), ('sync_life', NULL),
      ('events', NULL), ('event_readers', NULL), ('messaging_changes', NULL), ('messaging_turns', NULL), ('webhooks', NULL),
      ('group_members_buried', NULL), ('knex_migrations', NULL), ('knex_migrations_lock', NULL)
    ) AS known (name, owner) ON relname = known.name
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') LOOP
    IF NOT one.is_known THEN
      RAISE EXCEPTION 'test/owners/owners.sql does not say who owns the rows of %', one.name;
    END IF;
    EXECUTE format('ALTER TABLE %s OWNER TO owner_of_tables', one.name);
    CONTINUE WHEN one.owner IS NULL;
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', one.name);
    EXECUTE format('CREATE POLICY owner ON %s USING (note_owner(%s)) WITH CHECK (note_owner(%2$s))', one.name, one.owner);
  END LOOP;
  FOR one IN SELECT oid::regprocedure AS name FROM pg_proc
              WHERE pronamespace = 'public'::regnamespace AND proname <> 'note_owner' LOOP
    EXECUTE format('ALTER ROUTINE %s OWNER TO owner_of_tables', one.name);
  END LOOP;
END $$;

-- The plans of large tables, which read only rows that are asked for. For tables as small as those of the tests
-- PostgreSQL would rather read all rows.
ALTER ROLE accounts_service SET enable_seqscan = off;
ALTER ROLE accounts_service SET enable_hashjoin = off;
ALTER ROLE accounts_service SET enable_mergejoin = off;
