-- Versions for sync over several servers. A transaction id means nothing on another server, so that a version is the clock
-- of the server that writes. Whoever takes one first holds a lock whose key is that time, until its rows can be seen; a
-- commit of several servers holds it as well. docs/distributed.md says why nothing gets lost.

CREATE OR REPLACE FUNCTION sync_next_version() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  version text := current_setting('sync.version', true);
BEGIN
  IF version IS NULL OR version = '' THEN
    -- The lock first: a version that is read while nobody sees the lock would be below a horizon that is given out.
    PERFORM pg_advisory_xact_lock_shared(sync_clock());
    version := sync_clock()::text;
    PERFORM set_config('sync.version', version, true);
  END IF;
  RETURN version::bigint;
END $$;

-- Whatever is at or below it has been decided on this server. Behind the clock and the oldest lock by some microseconds: the
-- clock of another server, or of one that takes its place, may be behind by as much.
CREATE OR REPLACE FUNCTION sync_server_horizon(apart bigint) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
DECLARE
  -- Before the locks: one that comes later has a version above.
  present bigint := sync_clock();
  oldest bigint;
BEGIN
  SELECT min(classid::bigint << 32 | objid::bigint) INTO oldest FROM pg_locks
   WHERE locktype = 'advisory' AND objsubid = 1 AND mode = 'ShareLock'
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
     -- Locks of the last day: other keys are none of these.
     AND classid::bigint << 32 | objid::bigint BETWEEN present - 86400000000 AND present;
  RETURN least(present, oldest) - apart - 1;
END $$;

-- The horizon up to which events were gathered, for readers of rows by their versions. That of the servers is above it:
-- the service asks each of them by a connection of its own.
INSERT INTO event_readers (name, version, number, subject)
  -- Before all that is under way.
  VALUES ('gathered', sync_clock() - 60000000, 0, '') ON CONFLICT DO NOTHING;
CREATE OR REPLACE FUNCTION sync_horizon() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT version FROM event_readers WHERE name = 'gathered'
$$;
