-- Creates the two roles of the service. Run it as a superuser in the service's database. The postgres image runs it
-- when it creates the database, and it may be run again. accounts_owner owns the tables and migrates them. The service
-- runs as accounts_service, which gets its rights from each migration. Objects of another role (of a single-role
-- deployment) are given to the owner. 2-passwords.sh, or \password in psql, sets the passwords.
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
  -- In clusters that were upgraded from PostgreSQL 14 or older, every role can create tables.
  REVOKE CREATE ON SCHEMA public FROM PUBLIC;
  -- The service makes neither. A large object of its role could not be backed up by the owner.
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    REVOKE EXECUTE ON FUNCTION lo_creat, lo_create, lo_from_bytea FROM PUBLIC;
  END IF;

  -- Sequences change owner with their tables.
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
