DROP TRIGGER security_events_at_now ON security_events;
DROP FUNCTION security_events_at_now;
CREATE OR REPLACE FUNCTION security_events_sweep(days integer) RETURNS integer LANGUAGE plpgsql STRICT SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
DECLARE
  before timestamptz := now() - make_interval(days => greatest(days, 1));
  removed integer;
BEGIN
  DELETE FROM security_events
   WHERE ctid = ANY (ARRAY(SELECT ctid FROM security_events WHERE at < before LIMIT 5000)) AND at < before;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END $$;
DROP TABLE security_events_kept;
