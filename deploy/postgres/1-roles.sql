-- The two roles of the service, in its database, as a superuser: the postgres image runs this when it makes the database,
-- and it may be run again. accounts_owner owns the tables and migrates them; accounts_service, as which the service runs,
-- gets what it needs from each migration. What belongs to another role (of a single-role deployment) goes to the owner.
-- Passwords are set elsewhere: 2-passwords.sh, or \password in psql.
DO $$
DECLARE
  statement text;
BEGIN
  IF to_regrole('accounts_owner') IS NULL THEN
    CREATE ROLE accounts_owner;
  END IF;
  IF to_regrole('accounts_service') IS NULL THEN
    CREATE ROLE accounts_service;
  END IF;
  ALTER ROLE accounts_owner LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
  ALTER ROLE accounts_service LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;

  EXECUTE format('ALTER DATABASE %I OWNER TO accounts_owner', current_database());
  ALTER SCHEMA public OWNER TO accounts_owner;
  -- Clusters that were upgraded from PostgreSQL 14 or older let everybody make tables.
  REVOKE CREATE ON SCHEMA public FROM PUBLIC;

  -- Sequences go with their tables.
  FOR statement IN
    SELECT format('ALTER TABLE %s OWNER TO accounts_owner', oid::regclass) FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')
       AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')
     UNION ALL
    SELECT format('ALTER ROUTINE %s OWNER TO accounts_owner', oid::regprocedure) FROM pg_proc
     WHERE pronamespace = 'public'::regnamespace
       AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
  LOOP
    EXECUTE statement;
  END LOOP;
END $$;
