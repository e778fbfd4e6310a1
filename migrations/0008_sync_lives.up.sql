-- A base of versions is good for one life of the server. After a crash PostgreSQL may give a transaction id again that had
-- reached nobody's disk but clients, as part of a horizon; a backup or a snapshot that is put back has lower ids throughout.
-- All of these empty an unlogged table, and so does a promotion; a clean copy that is started elsewhere has another start time.

-- Nobody writes versions of the old base while the new one is made: an open transaction's would be too low later.
LOCK TABLE users, blacklist, friendships, groups, group_members IN SHARE ROW EXCLUSIVE MODE;

DROP FUNCTION sync_rebase;
ALTER TABLE sync_epoch DROP CONSTRAINT sync_epoch_pkey, DROP COLUMN timeline_id,
  ADD CONSTRAINT sync_epoch_pkey PRIMARY KEY (base);
DROP FUNCTION sync_timeline;

CREATE UNLOGGED TABLE sync_life (
  started timestamptz NOT NULL,
  base bigint NOT NULL,
  CONSTRAINT sync_life_pkey PRIMARY KEY (started)
);

-- The base of this life, which the first who asks opens. It is the clock less the transaction id, so that versions go up
-- from life to life; should the clock have been put back meanwhile, it still lies above the last one of this cluster.
-- Bases of another cluster, which came with a dump, say nothing about the transaction ids of this one.
CREATE FUNCTION sync_base() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  life timestamptz := pg_postmaster_start_time();
  cluster bigint;
  present bigint;
BEGIN
  SELECT base INTO present FROM sync_life WHERE started = life;
  IF present IS NULL THEN
    SELECT system_identifier INTO cluster FROM pg_control_system();
    INSERT INTO sync_life (started, base)
      SELECT life, greatest(sync_clock() - pg_current_xact_id()::text::bigint, max(base) + 1000000)
        FROM sync_epoch WHERE system_identifier = cluster
      ON CONFLICT (started) DO NOTHING;
    -- Still NULL under an older snapshot: then NOT NULL fails and the writer tries again, but no low version is given out.
    SELECT base INTO present FROM sync_life WHERE started = life;
    INSERT INTO sync_epoch (base, system_identifier) VALUES (present, cluster) ON CONFLICT (base) DO NOTHING;
    DELETE FROM sync_epoch WHERE system_identifier <> cluster;
    DELETE FROM sync_life WHERE started <> life;
  END IF;
  RETURN present;
END $$;

CREATE OR REPLACE FUNCTION sync_next_version() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  present bigint;
BEGIN
  SELECT base INTO present FROM sync_life WHERE started = pg_postmaster_start_time();
  RETURN coalesce(present, sync_base()) + pg_current_xact_id()::text::bigint;
END $$;

-- Whatever is at or below it has been decided: no transaction that is still running can write there, and none to come. A
-- standby, which cannot read sync_life, gives it too. Until this life has a base the last one serves; it may belong to
-- another cluster, with any transaction ids, and so the horizon stays behind the clock, from which the next base is made.
CREATE OR REPLACE FUNCTION sync_horizon() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT least(max(base) + oldest, sync_clock() - (newest - oldest)) - 1
    FROM sync_epoch, (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest,
                             pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS newest) AS running
   GROUP BY oldest, newest
$$;

SELECT sync_base();
