LOCK TABLE users, blacklist, friendships, groups, group_members IN SHARE ROW EXCLUSIVE MODE;

DROP FUNCTION sync_base;
DROP TABLE sync_life;

CREATE FUNCTION sync_timeline() RETURNS integer LANGUAGE sql VOLATILE AS $$
  SELECT ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::integer
$$;

DELETE FROM sync_epoch WHERE base < (SELECT max(base) FROM sync_epoch);
ALTER TABLE sync_epoch DROP CONSTRAINT sync_epoch_pkey, ADD COLUMN timeline_id integer;
UPDATE sync_epoch SET timeline_id = sync_timeline();
ALTER TABLE sync_epoch ALTER timeline_id SET NOT NULL, ADD CONSTRAINT sync_epoch_pkey PRIMARY KEY (timeline_id);

CREATE OR REPLACE FUNCTION sync_next_version() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  current_base bigint;
  transaction_id bigint := pg_current_xact_id()::text::bigint;
  timeline integer := sync_timeline();
BEGIN
  SELECT base INTO current_base FROM sync_epoch WHERE timeline_id = timeline;
  IF current_base IS NULL THEN
    INSERT INTO sync_epoch (timeline_id, base, system_identifier)
      SELECT timeline, sync_clock() - transaction_id, system_identifier FROM pg_control_system()
      ON CONFLICT (timeline_id) DO NOTHING;
    SELECT base INTO current_base FROM sync_epoch WHERE timeline_id = timeline;
  END IF;
  RETURN current_base + transaction_id;
END $$;

CREATE OR REPLACE FUNCTION sync_horizon() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT max(base) + pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1 FROM sync_epoch
$$;

CREATE FUNCTION sync_rebase() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM sync_epoch;
  INSERT INTO sync_epoch (timeline_id, base, system_identifier)
    SELECT sync_timeline(), sync_clock() - pg_current_xact_id()::text::bigint, system_identifier FROM pg_control_system();
END $$;
